// A hash of the sources of this build's CPU kernels, by which measurements on disk tell builds apart.
#pragma once

namespace opkit::cpu {

extern const char* const kKernelHash;

}  // namespace opkit::cpu
