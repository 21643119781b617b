// The instruction set that the CPU kernels were dispatched to.
#pragma once

namespace opkit::cpu {

/// Highway's name of the best instruction set of this processor and this build: "AVX2", "AVX3", "NEON".
const char* simdTargetName();

}  // namespace opkit::cpu
