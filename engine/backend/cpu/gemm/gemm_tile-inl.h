// The register tile of the instruction set at hand and the end of a sum, for the files of the product of floats;
// included by them once per target.
#if defined(OPKIT_GEMM_TILE_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef OPKIT_GEMM_TILE_INL_H
#undef OPKIT_GEMM_TILE_INL_H
#else
#define OPKIT_GEMM_TILE_INL_H
#endif

#include "engine/backend/cpu/gemm/gemm_kernel.h"
#include "engine/backend/cpu/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace opkit::cpu::gemm {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace vectors = opkit::cpu::HWY_NAMESPACE;

using D = vectors::FloatTag;
using V = vectors::FloatVec;
constexpr int kLanes = static_cast<int>(vectors::kLanes);
#if HWY_TARGET <= HWY_AVX3 || HWY_TARGET == HWY_NEON  // 32 registers
constexpr int kTileRows = 8;
constexpr int kTileVecs = 3;
#else
constexpr int kTileRows = 6;
constexpr int kTileVecs = 2;
#endif
constexpr int kTileColumns = kTileVecs * kLanes;

/// Scales and limits of a sum; adds beta * bias if there is a bias.
HWY_INLINE V finished(V sum, const Epilogue& e, V bias) {
  const D d;
  if (e.alpha != 1.0f) sum = hn::Mul(sum, hn::Set(d, e.alpha));
  if (e.bias) sum = hn::MulAdd(bias, hn::Set(d, e.beta), sum);
  const V low = hn::Set(d, e.low);
  const V high = hn::Set(d, e.high);
  // Not Min and Max: comparisons keep a NaN on every instruction set.
  sum = hn::IfThenElse(hn::Lt(sum, low), low, sum);
  return hn::IfThenElse(hn::Gt(sum, high), high, sum);
}

}  // namespace HWY_NAMESPACE
}  // namespace opkit::cpu::gemm
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
