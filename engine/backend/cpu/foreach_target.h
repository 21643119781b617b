// The preamble of files that are compiled once per instruction set and chosen from at run time:
//
//   #undef HWY_TARGET_INCLUDE
//   #define HWY_TARGET_INCLUDE "ops/relu/relu_vectors.cpp"  // this very file
//   #include "engine/backend/cpu/foreach_target.h"
//
// Comes before other Highway headers. No include guard: Highway's own guards control each inclusion.

// Vectors of unknown length cannot be kept in arrays. Processors with SSSE3 and no SSE4 take the scalar form.
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV | HWY_SSSE3)
#include "engine/backend/cpu/simd_build.h"
#ifdef OPKIT_SIMD_ALONE  // one instruction set, without a choice at run time
#define HWY_COMPILE_ONLY_STATIC
#define HWY_BASELINE_TARGETS OPKIT_SIMD_ALONE
#endif
#include <hwy/foreach_target.h>
// foreach_target.h must come first.
#include <hwy/highway.h>
