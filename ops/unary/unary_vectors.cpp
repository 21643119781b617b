// One row per function that has a vector kernel; unary_table.h defines each, and the NaN, Inf and -0 of its oracle are
// kept. The others go through the scalar kernel.
#include "ops/unary/unary_vectors.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/unary/unary_vectors.cpp"
#include "engine/backend/cpu/foreach_target.h"

#include "engine/backend/cpu/double_math-inl.h"
#include "engine/backend/cpu/vector_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace opkit::ops::unary {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace vm = opkit::cpu::HWY_NAMESPACE;
using V = vm::FloatVec;
using vm::choose;
using vm::set;

constexpr int64_t kLanes = static_cast<int64_t>(hn::MaxLanes(vm::FloatTag()));

/// Whole vectors two at a time, so that long chains of dependent operations overlap; then a tail.
template <class Function>
void mapAll(const float* x, float* y, int64_t count, float a, float b) {
  const vm::FloatTag d;
  const Function function;
  const V va = set(a), vb = set(b);
  int64_t i = 0;
  for (; i + 2 * kLanes <= count; i += 2 * kLanes) {
    const V first = function(hn::LoadU(d, x + i), va, vb);
    const V second = function(hn::LoadU(d, x + i + kLanes), va, vb);
    hn::StoreU(first, d, y + i);
    hn::StoreU(second, d, y + i + kLanes);
  }
  for (; i < count; i += kLanes) {
    HWY_ALIGN float lanes[kLanes] = {};
    const int64_t rest = count - i < kLanes ? count - i : kLanes;
    for (int64_t k = 0; k < rest; ++k) lanes[k] = x[i + k];
    hn::Store(function(hn::Load(d, lanes), va, vb), d, lanes);
    for (int64_t k = 0; k < rest; ++k) y[i + k] = lanes[k];
  }
}

HWY_INLINE V zero() { return set(0.0f); }
HWY_INLINE V one() { return set(1.0f); }
HWY_INLINE V limit(V x) { return vm::limitTo(x, zero(), one()); }
HWY_INLINE V elu(V x, V slope, V scale) {
  return choose(hn::Lt(x, zero()), hn::Mul(slope, vm::expm1(hn::Mul(x, scale))), x);
}

HWY_INLINE V shrink(V x, V a, V b) {
  const V inner = choose(hn::Eq(x, x), zero(), x);  // NaN stays
  return choose(hn::Lt(x, hn::Neg(a)), hn::Add(x, b), choose(hn::Gt(x, a), hn::Sub(x, b), inner));
}

#define UNARY_ROWS(ROW)                                                                   \
  ROW(Relu, choose(hn::Lt(x, zero()), zero(), x))                                         \
  ROW(LeakyRelu, choose(hn::Lt(x, zero()), hn::Mul(a, x), x))                             \
  ROW(ThresholdedRelu, choose(hn::Le(x, a), zero(), x))                                   \
  ROW(Clip, choose(hn::Lt(x, a), choose(hn::Lt(a, b), a, b), choose(hn::Gt(x, b), b, x))) \
  ROW(HardSigmoid, limit(hn::MulAdd(a, x, b)))                                            \
  ROW(HardSwish, hn::Mul(x, limit(hn::MulAdd(x, set(1.0f / 6.0f), set(0.5f)))))           \
  ROW(Abs, hn::Abs(x))                                                                    \
  ROW(Neg, hn::Neg(x))                                                                    \
  ROW(Sign, choose(hn::Gt(x, zero()), one(), choose(hn::Lt(x, zero()), set(-1.0f), x)))   \
  ROW(Floor, hn::Floor(x))                                                                \
  ROW(Ceil, hn::Ceil(x))                                                                  \
  ROW(Round, hn::Round(x))                                                                \
  ROW(Sqrt, hn::Sqrt(x))                                                                  \
  ROW(Reciprocal, hn::Div(one(), x))                                                      \
  ROW(Softsign, hn::Div(x, hn::Add(one(), hn::Abs(x))))                                   \
  ROW(Exp, vm::exp(x))                                                                    \
  ROW(Log, vm::log(x))                                                                    \
  ROW(Sigmoid, vm::sigmoid(x))                                                            \
  ROW(Softplus, vm::softplus(x))                                                          \
  ROW(Elu, elu(x, a, one()))                                                              \
  ROW(Selu, hn::Mul(b, elu(x, a, one())))                                                 \
  ROW(Mish, vm::mish(x))                                                                  \
  ROW(Swish, vm::swish(x, a))                                                             \
  ROW(Erf, vm::erf(x))                                                                    \
  ROW(Gelu, vm::gelu(x))                                                                  \
  ROW(GeluTanh, vm::geluTanh(x))                                                          \
  ROW(Celu, elu(x, a, hn::Div(one(), a)))                                                 \
  ROW(Shrink, shrink(x, a, b))                                                            \
  ROW(Sin, vm::periodic<vm::Sin>(x))                                                      \
  ROW(Cos, vm::periodic<vm::Cos>(x))                                                      \
  ROW(Tan, vm::periodic<vm::Tan>(x))                                                      \
  ROW(Asin, vm::inDouble<vm::Asin>(x))                                                    \
  ROW(Acos, vm::inDouble<vm::Acos>(x))                                                    \
  ROW(Atan, vm::inDouble<vm::Atan>(x))                                                    \
  ROW(Sinh, vm::inDouble<vm::Sinh>(x))                                                    \
  ROW(Cosh, vm::inDouble<vm::Cosh>(x))                                                    \
  ROW(Asinh, vm::inDouble<vm::Asinh>(x))                                                  \
  ROW(Acosh, vm::inDouble<vm::Acosh>(x))                                                  \
  ROW(Atanh, vm::inDouble<vm::Atanh>(x))                                                  \
  ROW(Tanh, vm::tanh(x))

#define DEFINE(Name, value)                                                                          \
  struct Name {                                                                                      \
    HWY_INLINE V operator()(V x, [[maybe_unused]] V a, [[maybe_unused]] V b) const { return value; } \
  };
UNARY_ROWS(DEFINE)

VectorMap find(std::string_view type) {
#define FIND(Name, value) \
  if (type == #Name) return &mapAll<Name>;
  UNARY_ROWS(FIND)
  return nullptr;
}

}  // namespace HWY_NAMESPACE
}  // namespace opkit::ops::unary
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opkit::ops::unary {
HWY_EXPORT(find);
VectorMap vectorMapOf(std::string_view type) { return HWY_DYNAMIC_DISPATCH(find)(type); }
}  // namespace opkit::ops::unary
#endif
