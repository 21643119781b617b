// One row per function that has a vector kernel; binary_table.h defines each, and the NaN, Inf and -0 of its oracle are
// kept. The others go through the scalar kernel.
#include "ops/binary/binary_vectors.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/binary/binary_vectors.cpp"
#include "engine/backend/cpu/foreach_target.h"

#include "engine/backend/cpu/double_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace opkit::ops::binary {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace vectors = opkit::cpu::HWY_NAMESPACE;

using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;
constexpr int64_t kLanes = static_cast<int64_t>(hn::MaxLanes(D()));

/// An operand that moves along with the output, or one element for all of it.
template <int kStride>
HWY_INLINE V loadOperand(const float* from, int64_t i) {
  return kStride == 0 ? hn::Set(D(), *from) : hn::LoadU(D(), from + i);
}

/// Its last elements, fewer than a vector.
template <int kStride>
HWY_INLINE V loadPart(const float* from, int64_t i, int64_t count) {
  return kStride == 0 ? hn::Set(D(), *from) : vectors::loadPart(from + i, count);
}

template <class Function, int kXStride, int kYStride>
HWY_INLINE void mapRun(const float* x, const float* y, float* z, int64_t count) {
  const D d;
  const Function function;
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes)
    hn::StoreU(function(loadOperand<kXStride>(x, i), loadOperand<kYStride>(y, i)), d, z + i);
  if (i == count) return;
  const V xs = loadPart<kXStride>(x, i, count - i), ys = loadPart<kYStride>(y, i, count - i);
  vectors::storePart(function(xs, ys), z + i, count - i);
}

template <class Function>
void mapAll(const float* x, int64_t xStride, const float* y, int64_t yStride, float* z, int64_t count) {
  if (xStride != 0 && yStride != 0)
    mapRun<Function, 1, 1>(x, y, z, count);
  else if (xStride != 0)
    mapRun<Function, 1, 0>(x, y, z, count);
  else if (yStride != 0)
    mapRun<Function, 0, 1>(x, y, z, count);
  else
    mapRun<Function, 0, 0>(x, y, z, count);
}

#define BINARY_ROWS(ROW)                                             \
  ROW(Add, hn::Add(x, y))                                            \
  ROW(Sub, hn::Sub(x, y))                                            \
  ROW(Mul, hn::Mul(x, y))                                            \
  ROW(Div, hn::Div(x, y))                                            \
  ROW(Max, hn::IfThenElse(hn::Or(hn::IsNaN(x), hn::Ge(x, y)), x, y)) \
  ROW(Min, hn::IfThenElse(hn::Or(hn::IsNaN(x), hn::Le(x, y)), x, y)) \
  ROW(Pow, opkit::cpu::HWY_NAMESPACE::pow(x, y))                     \
  ROW(PRelu, hn::IfThenElse(hn::Lt(x, hn::Zero(D())), hn::Mul(x, y), x))

#define DEFINE(Name, value)                                   \
  struct Name {                                               \
    HWY_INLINE V operator()(V x, V y) const { return value; } \
  };
BINARY_ROWS(DEFINE)

VectorMap find(std::string_view type) {
#define FIND(Name, value) \
  if (type == #Name) return &mapAll<Name>;
  BINARY_ROWS(FIND)
  return nullptr;
}

void powAll(const float* x, int64_t xStride, const double* y, float* z, int64_t count) {
  using namespace opkit::cpu::HWY_NAMESPACE;  // NOLINT(google-build-using-namespace)
  const DoubleTag d;
  const hn::Rebind<float, DoubleTag> narrow;
  HWY_ALIGN float xs[kDoubles] = {}, zs[kDoubles];
  HWY_ALIGN double ys[kDoubles] = {};
  int64_t i = 0;
  for (; xStride == 1 && i + kDoubles <= count; i += kDoubles) {
    const DoubleVec value = powerOfDoubles(hn::PromoteTo(d, hn::LoadU(narrow, x + i)), hn::LoadU(d, y + i));
    hn::StoreU(hn::DemoteTo(narrow, value), narrow, z + i);
  }
  for (; i < count; i += kDoubles) {
    const int64_t length = count - i < kDoubles ? count - i : kDoubles;
    for (int64_t k = 0; k < length; ++k) {
      xs[k] = x[(i + k) * xStride];
      ys[k] = y[i + k];
    }
    const DoubleVec value = powerOfDoubles(hn::PromoteTo(d, hn::Load(narrow, xs)), hn::Load(d, ys));
    hn::Store(hn::DemoteTo(narrow, value), narrow, zs);
    for (int64_t k = 0; k < length; ++k) z[i + k] = zs[k];
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace opkit::ops::binary
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opkit::ops::binary {
HWY_EXPORT(find);
HWY_EXPORT(powAll);
void powDoubles(const float* x, int64_t xStride, const double* y, float* z, int64_t count) {
  HWY_DYNAMIC_DISPATCH(powAll)(x, xStride, y, z, count);
}
VectorMap vectorMapOf(std::string_view type) { return HWY_DYNAMIC_DISPATCH(find)(type); }
}  // namespace opkit::ops::binary
#endif
