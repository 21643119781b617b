// A hash of the sources of this build's CPU kernels; measurements on disk use it to distinguish builds.
#pragma once

namespace opkit::cpu {

extern const char* const kKernelHash;

}  // namespace opkit::cpu
