// Prints the best instruction set of this machine that kernels are compiled for: "AVX3". See opkit_simd.cmake.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cmake/best_simd.cpp"
#include "engine/backend/cpu/foreach_target.h"

#if HWY_ONCE
#include <cstdio>

int main() {
  const int64_t targets = hwy::SupportedTargets() & HWY_TARGETS;  // the best is the lowest bit
  std::printf("%s", hwy::TargetName(targets & -targets));
}
#endif
