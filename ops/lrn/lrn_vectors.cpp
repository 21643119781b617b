#include "ops/lrn/lrn_vectors.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/lrn/lrn_vectors.cpp"
#include "engine/backend/cpu/foreach_target.h"

#include "engine/backend/cpu/double_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace opkit::ops::lrn {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace vm = opkit::cpu::HWY_NAMESPACE;

void divideAll(const float* x, const double* squares, float* y, int64_t count, const LrnParamsT& params) {
  const vm::DoubleTag d;
  const hn::Rebind<float, vm::DoubleTag> narrow;
  const vm::DoubleVec scale = vm::setDouble(static_cast<double>(params.alpha) / static_cast<double>(params.size));
  const vm::DoubleVec bias = vm::setDouble(params.bias), beta = vm::setDouble(params.beta);
  const auto divide = [&](vm::DoubleVec value, vm::DoubleVec sum)
                          HWY_ATTR { return hn::Div(value, vm::powerOfDoubles(hn::MulAdd(scale, sum, bias), beta)); };
  int64_t i = 0;
  for (; i + vm::kDoubles <= count; i += vm::kDoubles) {
    const vm::DoubleVec value = divide(hn::PromoteTo(d, hn::LoadU(narrow, x + i)), hn::LoadU(d, squares + i));
    hn::StoreU(hn::DemoteTo(narrow, value), narrow, y + i);
  }
  if (i == count) return;
  HWY_ALIGN float values[vm::kDoubles] = {};
  HWY_ALIGN double sums[vm::kDoubles] = {};
  for (int64_t k = 0; k < count - i; ++k) {
    values[k] = x[i + k];
    sums[k] = squares[i + k];
  }
  hn::Store(hn::DemoteTo(narrow, divide(hn::PromoteTo(d, hn::Load(narrow, values)), hn::Load(d, sums))), narrow,
            values);
  for (int64_t k = 0; k < count - i; ++k) y[i + k] = values[k];
}

}  // namespace HWY_NAMESPACE
}  // namespace opkit::ops::lrn
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opkit::ops::lrn {
HWY_EXPORT(divideAll);
void normaliseVectors(const float* x, const double* squares, float* y, int64_t count, const LrnParamsT& params) {
  HWY_DYNAMIC_DISPATCH(divideAll)(x, squares, y, count, params);
}
}  // namespace opkit::ops::lrn
#endif
