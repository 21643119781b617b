// Plain loops that the compiler turns into vectors of each instruction set.
#include "ops/variadic/variadic_wide.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/variadic/variadic_wide.cpp"
#include "engine/backend/cpu/foreach_target.h"

HWY_BEFORE_NAMESPACE();
namespace opkit::ops::variadic {
namespace HWY_NAMESPACE {

void widenAll(const float* HWY_RESTRICT x, double* HWY_RESTRICT sums, int64_t count) {
  for (int64_t i = 0; i < count; ++i) sums[i] = static_cast<double>(x[i]);
}
void addAll(const float* HWY_RESTRICT x, double* HWY_RESTRICT sums, int64_t count) {
  for (int64_t i = 0; i < count; ++i) sums[i] += static_cast<double>(x[i]);
}
void scaleAll(const double* HWY_RESTRICT sums, double factor, float* HWY_RESTRICT y, int64_t count) {
  for (int64_t i = 0; i < count; ++i) y[i] = static_cast<float>(sums[i] * factor);
}

}  // namespace HWY_NAMESPACE
}  // namespace opkit::ops::variadic
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opkit::ops::variadic {
HWY_EXPORT(widenAll);
HWY_EXPORT(addAll);
HWY_EXPORT(scaleAll);
void widen(const float* x, double* sums, int64_t count) { HWY_DYNAMIC_DISPATCH(widenAll)(x, sums, count); }
void addWidened(const float* x, double* sums, int64_t count) { HWY_DYNAMIC_DISPATCH(addAll)(x, sums, count); }
void scaleToFloats(const double* sums, double factor, float* y, int64_t count) {
  HWY_DYNAMIC_DISPATCH(scaleAll)(sums, factor, y, count);
}
}  // namespace opkit::ops::variadic
#endif
