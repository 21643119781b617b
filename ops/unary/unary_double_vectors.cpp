// Highway's functions of double and compositions of them. Each row has the range in which its vectors hold 8 ULP
// (unary_double_vectors_test.cpp); elements outside go through the scalar functions.
#include "ops/unary/unary_double_vectors.h"

#include "ops/unary/unary_scalars.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/unary/unary_double_vectors.cpp"
#include "engine/backend/cpu/foreach_target.h"

#include "engine/backend/cpu/double_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace opkit::ops::unary::doubles {  // of its own: other sources have functors of these names
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace vm = opkit::cpu::HWY_NAMESPACE;
using D = vm::DoubleTag;
using V = vm::DoubleVec;
constexpr int64_t kLanes = vm::kDoubles;

HWY_INLINE V set(double value) { return vm::setDouble(value); }
HWY_INLINE V one() { return set(1.0); }
HWY_INLINE V exp(V x) { return hn::Exp(D(), x); }

/// A value in two parts, the second of which is below the last place of the first.
struct Split {
  V high, low;
};
#if HWY_NATIVE_FMA
HWY_INLINE Split productOf(V x, V y) {
  const V high = hn::Mul(x, y);
  return {high, hn::MulSub(x, y, high)};
}
#else
/// The leading 26 bits, and the rest.
HWY_INLINE Split halvesOf(V x) {
  const hn::RebindToUnsigned<D> bits;
  const V high = hn::BitCast(D(), hn::And(hn::BitCast(bits, x), hn::Set(bits, ~uint64_t{0x7FFFFFF})));
  return {high, hn::Sub(x, high)};
}
/// Products of halves are exact (T. Dekker, Numer. Math. 18, 1971).
HWY_INLINE Split productOf(V x, V y) {
  const V high = hn::Mul(x, y);
  const Split a = halvesOf(x), b = halvesOf(y);
  const V crossed = hn::Add(hn::Mul(a.high, b.low), hn::Mul(a.low, b.high));
  return {high, hn::Add(hn::Add(hn::Sub(hn::Mul(a.high, b.high), high), crossed), hn::Mul(a.low, b.low))};
}
#endif
/// e^-(x.high + x.low)
HWY_INLINE V expOfMinus(Split x) { return hn::Mul(exp(hn::Neg(x.high)), hn::Sub(one(), x.low)); }

/// Highway's loses the sign of -0.
HWY_INLINE V sin(V x) { return hn::IfThenElse(hn::Eq(x, hn::Zero(D())), x, hn::Sin(D(), x)); }
HWY_INLINE V sigmoid(V x) { return hn::Div(one(), hn::Add(one(), exp(hn::Neg(x)))); }
HWY_INLINE V softplus(V x) { return hn::Add(hn::Max(x, hn::Zero(D())), hn::Log1p(D(), exp(hn::Neg(hn::Abs(x))))); }
HWY_INLINE V cosh(V x) {
  const V e = exp(hn::Abs(x));
  return hn::Mul(set(0.5), hn::Add(e, hn::Div(one(), e)));
}
HWY_INLINE V elu(V x, V slope, V scaled) {
  const V low = hn::Min(scaled, hn::Zero(D()));  // of the other branch: must not overflow
  return hn::IfThenElse(hn::Lt(x, hn::Zero(D())), hn::Mul(slope, hn::Expm1(D(), low)), x);
}
/// x tanh(log(1 + e^x)) = x n / (n + 2) with n = e^x (e^x + 2). Beyond 40, n / (n + 2) rounds to 1.
HWY_INLINE V mish(V x) {
  const V e = exp(hn::Min(x, set(40.0))), n = hn::Mul(e, hn::Add(e, set(2.0)));
  return hn::Mul(x, hn::Div(n, hn::Add(n, set(2.0))));
}

/// x (x + 3) / 6, the second factor limited to [0, 1]; x + 3 is exact where it is small.
HWY_INLINE V hardSwish(V x) {
  const V limited = hn::Min(hn::Max(hn::Add(x, set(3.0)), hn::Zero(D())), set(6.0));
  return hn::Mul(x, hn::Div(limited, set(6.0)));
}

HWY_INLINE V shrink(V x, V lambda, V bias) {
  const V zero = hn::IfThenElse(hn::Eq(x, x), hn::Zero(D()), x);  // NaN stays
  const V inside = hn::IfThenElse(hn::Gt(x, lambda), hn::Sub(x, bias), zero);
  return hn::IfThenElse(hn::Lt(x, hn::Neg(lambda)), hn::Add(x, bias), inside);
}

/// erfc(x) e^(x^2) of x in [0, 27], 3 ULP: (1 + 2 x) of it is a polynomial of (x - k) / (x + k), k = 3.75 (M. Shepherd
/// and J. Laframboise, Math. Comp. 36, 1981). The coefficients are those of the Chebyshev series to degree 23.
HWY_INLINE V scaledErfc(V x) {
  const V t = hn::Div(hn::Sub(x, set(3.75)), hn::Add(x, set(3.75)));
  const V value = vm::polynomial(
      t, {1.2375126308378275,     -0.14024059858554702,    0.0035854154854630116,   0.082276738490150492,
          -0.10880393014166419,   0.092304321160232863,    -0.058693398591623654,   0.02836227742054951,
          -0.0097465795339175664, 0.0017556258464981999,   0.00029371349362683035,  -0.00029015409864893379,
          5.164986688199462e-05,  2.2384539188211577e-05,  -1.1446344600631726e-05, -9.7495374485271326e-07,
          1.7556164449600463e-06, -5.3746334222878427e-08, -2.6291132029782667e-07, 1.8278983592686687e-08,
          4.0765133993034621e-08, 1.4970128727049782e-10,  -5.0158163330132806e-09, -9.7459343507610738e-10});
  return hn::Div(value, hn::MulAdd(x, set(2.0), one()));
}
/// Near 0 by its Chebyshev series in x^2, else through erfc.
HWY_INLINE V erf(V x) {
  const V a = hn::Min(hn::Abs(x), set(7.0)), z = hn::Mul(x, x);
  const V series =
      vm::polynomial(hn::Min(z, one()),
                     {1.1283791670955126, -0.37612638903183754, 0.11283791670955116, -0.026866170645126142,
                      0.0052239776253056435, -0.00085483270021554346, 0.00012055330909611585, -1.4925520693395431e-05,
                      1.6456889795009555e-06, -1.6234496354944612e-07, 1.2918457985476744e-08});
  const V large = hn::NegMulAdd(expOfMinus(productOf(a, a)), scaledErfc(a), one());
  return vm::chooseSmall(x, 0.5, hn::Mul(x, series), hn::CopySign(large, x));
}
/// x erfc(-x / sqrt 2) / 2. The argument is kept in two parts: its rounding error would be multiplied by it.
HWY_INLINE V gelu(V x) {
  const V a = hn::Abs(x), root = set(0.70710678118654757);
  Split z = productOf(a, root);
  z.low = hn::MulAdd(a, set(-4.8336466567264567e-17), z.low);
  Split square = productOf(z.high, z.high);
  square.low = hn::MulAdd(hn::Add(z.high, z.high), z.low, square.low);
  const V tail = hn::Mul(expOfMinus(square), scaledErfc(z.high));
  const V factor = hn::IfThenElse(hn::Lt(x, hn::Zero(D())), tail, hn::Sub(set(2.0), tail));
  return hn::Mul(hn::Mul(set(0.5), x), factor);
}
/// x / (1 + e^-y), y = sqrt(8 / pi) x (1 + 0.044715 x^2) in two parts.
HWY_INLINE V geluTanh(V x) {
  const V factor = set(0.044715), scale = set(1.5957691216057308);
  const Split square = productOf(x, x);
  Split cubic = productOf(factor, square.high);
  cubic.low = hn::Add(hn::MulAdd(factor, square.low, cubic.low), hn::Mul(set(2.1960211427085595e-18), square.high));
  const V sum = hn::Add(one(), cubic.high), larger = hn::Max(one(), cubic.high), smaller = hn::Min(one(), cubic.high);
  const V rest = hn::Add(hn::Sub(smaller, hn::Sub(sum, larger)), cubic.low);
  Split scaled = productOf(scale, x);
  scaled.low = hn::MulAdd(set(-9.9693088091109202e-17), x, scaled.low);
  Split y = productOf(scaled.high, sum);
  y.low = hn::Add(y.low, hn::MulAdd(scaled.high, rest, hn::Mul(scaled.low, sum)));
  return hn::Div(x, hn::Add(one(), expOfMinus(y)));
}

// ROW(Name, least |x|, greatest |x|, value)
#define DOUBLE_ROWS(ROW)                                                                      \
  ROW(Exp, 0, 700, exp(x))                                                                    \
  ROW(Sigmoid, 0, 700, sigmoid(x))                                                            \
  ROW(Softplus, 0, 700, softplus(x))                                                          \
  ROW(Elu, 0, 700, elu(x, a, x))                                                              \
  ROW(Selu, 0, 700, hn::Mul(b, elu(x, a, x)))                                                 \
  ROW(Celu, 0, 700, elu(x, a, hn::Div(x, a)))                                                 \
  ROW(Mish, 0, 300, mish(x))                                                                  \
  ROW(LeakyRelu, 0, 1e300, hn::IfThenElse(hn::Lt(x, hn::Zero(D())), hn::Mul(a, x), x))        \
  ROW(Shrink, 0, 1e300, shrink(x, a, b))                                                      \
  ROW(HardSwish, 0, 1e100, hardSwish(x))                                                      \
  ROW(Erf, 1e-100, 1e100, erf(x))                                                             \
  ROW(Gelu, 0, 35, gelu(x))                                                                   \
  ROW(GeluTanh, 0, 15, geluTanh(x))                                                           \
  ROW(Tanh, 1e-100, 300, hn::Tanh(D(), x))                                                    \
  ROW(Sinh, 1e-100, 700, hn::Sinh(D(), x))                                                    \
  ROW(Cosh, 0, 700, cosh(x))                                                                  \
  ROW(Asinh, 1e-100, 1e100, hn::Asinh(D(), x))                                                \
  ROW(Acosh, 1, 1e100, hn::IfThenElse(hn::Lt(x, one()), vm::notANumber(), hn::Acosh(D(), x))) \
  ROW(Atanh, 1e-100, 0.9999, hn::Atanh(D(), x))                                               \
  ROW(Sin, 1e-100, 1000, sin(x))                                                              \
  ROW(Cos, 0, 1000, hn::Cos(D(), x))                                                          \
  ROW(Tan, 1e-100, 1000, hn::Div(sin(x), hn::Cos(D(), x)))                                    \
  ROW(Asin, 1e-100, 1, hn::Asin(D(), x))                                                      \
  ROW(Acos, 0, 1, hn::Acos(D(), x))                                                           \
  ROW(Atan, 1e-100, 1e100, hn::Atan(D(), x))

/// `Function` on elements that lie in its range, `real` on others: no result depends on the neighbours.
template <class Function>
void mapDoubles(const double* x, double* y, int64_t count, double a, double b, double (*real)(double, double, double)) {
  const D d;
  const Function function;
  const V va = set(a), vb = set(b), least = set(Function::kLeast), most = set(Function::kMost);
  const auto fits = [&](V v) HWY_ATTR {
    const V magnitude = hn::Abs(v);
    return hn::Or(hn::And(hn::Ge(magnitude, least), hn::Le(magnitude, most)), hn::Eq(v, hn::Zero(d)));
  };
  if (!Function::takes(a)) {
    for (int64_t i = 0; i < count; ++i) y[i] = real(x[i], a, b);
    return;
  }
  for (int64_t i = 0; i < count; i += kLanes) {
    const int64_t length = count - i < kLanes ? count - i : kLanes;
    if (length == kLanes && hn::AllTrue(d, fits(hn::LoadU(d, x + i)))) {
      hn::StoreU(function(hn::LoadU(d, x + i), va, vb), d, y + i);
      continue;
    }
    HWY_ALIGN double lanes[kLanes] = {}, values[kLanes], fitting[kLanes];
    for (int64_t k = 0; k < length; ++k) lanes[k] = x[i + k];
    const V from = hn::Load(d, lanes);
    const auto mask = fits(from);
    hn::Store(function(hn::IfThenElse(mask, from, least), va, vb), d, values);
    hn::Store(hn::IfThenElseZero(mask, one()), d, fitting);
    for (int64_t k = 0; k < length; ++k) y[i + k] = fitting[k] != 0 ? values[k] : real(lanes[k], a, b);
  }
}

// With a positive, x / a of Celu has the sign of x and does not overflow.
#define DEFINE(Name, least, most, value)                                                             \
  struct Name {                                                                                      \
    static constexpr double kLeast = least, kMost = most;                                            \
    static bool takes(double a) { return std::string_view(#Name) != "Celu" || a > 0; }               \
    HWY_INLINE V operator()(V x, [[maybe_unused]] V a, [[maybe_unused]] V b) const { return value; } \
    static void map(const void* x, void* y, int64_t count, double a, double b) {                     \
      static const auto real = scalarsOf(#Name).real;                                                \
      mapDoubles<Name>(static_cast<const double*>(x), static_cast<double*>(y), count, a, b, real);   \
    }                                                                                                \
  };
DOUBLE_ROWS(DEFINE)

TypedMap find(std::string_view type) {
#define FIND(Name, least, most, value) \
  if (type == #Name) return &Name::map;
  DOUBLE_ROWS(FIND)
  return nullptr;
}

}  // namespace HWY_NAMESPACE
}  // namespace opkit::ops::unary::doubles
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opkit::ops::unary {
namespace doubles {
HWY_EXPORT(find);
TypedMap findBest(std::string_view type) { return HWY_DYNAMIC_DISPATCH(find)(type); }
}  // namespace doubles
TypedMap doubleMapOf(std::string_view type) { return doubles::findBest(type); }
}  // namespace opkit::ops::unary
#endif
