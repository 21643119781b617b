#include "engine/backend/cpu/double_rows.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/backend/cpu/double_rows.cpp"
#include "engine/backend/cpu/foreach_target.h"

#include "engine/backend/cpu/double_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace opkit::cpu {
namespace HWY_NAMESPACE {

double expDoubles(const double* x, double shift, double* y, int64_t count) {
  const DoubleTag d;
  const DoubleVec by = setDouble(shift);
  const auto value = [d, by](DoubleVec v) HWY_ATTR {
    const DoubleVec power = hn::Sub(v, by);
    return hn::IfThenElse(hn::IsNaN(power), power, hn::Exp(d, power));
  };
  DoubleVec total = hn::Zero(d);
  int64_t i = 0;
  for (; i + kDoubles <= count; i += kDoubles) {
    const DoubleVec e = value(hn::LoadU(d, x + i));
    total = hn::Add(total, e);
    if (y) hn::StoreU(e, d, y + i);
  }
  HWY_ALIGN double lanes[kDoubles];
  double sum = 0;
  if (i < count) {
    for (int64_t k = 0; k < kDoubles; ++k) lanes[k] = i + k < count ? x[i + k] : shift;
    hn::Store(value(hn::Load(d, lanes)), d, lanes);
    for (int64_t k = 0; k < count - i; ++k) sum += lanes[k];
    for (int64_t k = 0; y && k < count - i; ++k) y[i + k] = lanes[k];
  }
  hn::Store(total, d, lanes);
  for (const double lane : lanes) sum += lane;
  return sum;
}

}  // namespace HWY_NAMESPACE
}  // namespace opkit::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opkit::cpu {
HWY_EXPORT(expDoubles);
double expBelow(const double* x, double shift, double* y, int64_t count) {
  return HWY_DYNAMIC_DISPATCH(expDoubles)(x, shift, y, count);
}
}  // namespace opkit::cpu
#endif
