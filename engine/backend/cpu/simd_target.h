// The instruction set that the CPU kernels were dispatched to.
#pragma once

#include <string>

#include "engine/base/status.h"

namespace opkit::cpu {

/// Highway's name of the best instruction set of this processor and this build: "AVX2", "AVX3", "NEON".
const char* simdTargetName();

/// OK if this processor has an instruction set that the kernels were compiled for. Unsupported names the one that it
/// lacks, in a build for one (OPKIT_SIMD=native).
Status checkSimd();

/// Restricts kernels to the instruction set of this name, so that one machine checks the kernels of older ones. Applies
/// to the whole process; call before kernels run on other threads. InvalidArgument lists what this processor and this
/// build have.
Status limitSimd(const std::string& name);

}  // namespace opkit::cpu
