// Functions of Highway vectors of float that are computed in double, for CPU kernels that are compiled once per
// instruction set. NaN gives NaN and infinities give the limits.
//
// Included by such a .cpp after highway.h, once per target.
#if defined(OPKIT_DOUBLE_MATH_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef OPKIT_DOUBLE_MATH_INL_H
#undef OPKIT_DOUBLE_MATH_INL_H
#else
#define OPKIT_DOUBLE_MATH_INL_H
#endif

#include <hwy/contrib/math/math-inl.h>

#include <cmath>
#include <limits>

#include "engine/backend/cpu/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace opkit::cpu {
namespace HWY_NAMESPACE {

using DoubleTag = hn::ScalableTag<double>;
using DoubleVec = hn::Vec<DoubleTag>;
constexpr int64_t kDoubles = static_cast<int64_t>(hn::MaxLanes(DoubleTag()));

HWY_INLINE DoubleVec setDouble(double value) { return hn::Set(DoubleTag(), value); }

/// coefficients[0] + x * (coefficients[1] + ...)
template <size_t N>
HWY_INLINE DoubleVec polynomial(DoubleVec x, const double (&coefficients)[N]) {
  DoubleVec sum = setDouble(coefficients[N - 1]);
  for (size_t i = N - 1; i-- > 0;) sum = hn::MulAdd(sum, x, setDouble(coefficients[i]));
  return sum;
}

/// log2(x) of 0, Inf and values of float above 0, relative error 1e-12. Series: log m = 2 atanh((m - 1) / (m + 1)).
HWY_INLINE DoubleVec log2OfFloat(DoubleVec x) {
  const DoubleTag d;
  const hn::RebindToSigned<DoubleTag> di;
  const auto bits = hn::BitCast(di, x), half = hn::Set(di, 0x3FE6A09E667F3BCD);  // sqrt(1/2)
  const auto exponent = hn::ShiftRight<52>(hn::Sub(bits, half));
  const DoubleVec m = hn::BitCast(d, hn::Sub(bits, hn::ShiftLeft<52>(exponent)));
  // 1.5 * 2^52 and a small integer in the low bits: the integer as a double.
  const auto magic = hn::Set(di, 0x4338000000000000);
  const DoubleVec e = hn::Sub(hn::BitCast(d, hn::Add(exponent, magic)), setDouble(0x1.8p52));
  const DoubleVec t = hn::Div(hn::Sub(m, setDouble(1.0)), hn::Add(m, setDouble(1.0)));
  const DoubleVec series =
      polynomial(hn::Mul(t, t), {2.8853900817779268, 0.9617966939259756, 0.5770780163555854, 0.4121985831111324,
                                 0.3205988979753252, 0.2623081892525388, 0.2219530832136867});
  const DoubleVec y = hn::MulAdd(t, series, e);
  const DoubleVec infinity = setDouble(std::numeric_limits<double>::infinity());
  const DoubleVec finite = hn::IfThenElse(hn::Eq(x, setDouble(0.0)), hn::Neg(infinity), y);
  return hn::IfThenElse(hn::Lt(x, infinity), finite, x);  // NaN and +Inf pass
}

/// 2^x, relative error 3e-10, for results that are rounded to float; 0 or Inf beyond +-200. A NaN stays.
HWY_INLINE DoubleVec exp2ForFloat(DoubleVec x) {
  const hn::RebindToSigned<DoubleTag> di;
  const DoubleVec low = setDouble(-200.0), high = setDouble(200.0);
  x = hn::IfThenElse(hn::Lt(x, low), low, x);
  x = hn::IfThenElse(hn::Gt(x, high), high, x);
  const DoubleVec shifted = hn::Add(x, setDouble(0x1.8p52));  // rounds; the integer is in the low bits
  const DoubleVec r = hn::Mul(hn::Sub(x, hn::Sub(shifted, setDouble(0x1.8p52))), setDouble(0.69314718055994531));
  const DoubleVec value =
      polynomial(r, {1.0, 1.0, 1.0 / 2, 1.0 / 6, 1.0 / 24, 1.0 / 120, 1.0 / 720, 1.0 / 5040, 1.0 / 40320});
  const auto power = hn::Add(hn::BitCast(di, shifted), hn::Set(di, 1023));
  const DoubleVec product = hn::Mul(value, hn::BitCast(DoubleTag(), hn::ShiftLeft<52>(power)));
  const DoubleVec most = setDouble(std::numeric_limits<double>::infinity());
  return hn::IfThenElse(hn::Ge(x, high), most, hn::IfThenElse(hn::Le(x, low), setDouble(0.0), product));
}

HWY_INLINE DoubleVec powerOfDoubles(DoubleVec x, DoubleVec y) {
  const DoubleVec zero = setDouble(0.0), one = setDouble(1.0), half = setDouble(0.5), magnitude = hn::Abs(x);
  const DoubleVec infinity = setDouble(std::numeric_limits<double>::infinity());
  const DoubleVec product = hn::Mul(y, log2OfFloat(magnitude));
  // 0 * Inf: y is 0, or x is 1 or -1
  const auto isOne =
      hn::Or(hn::Eq(y, zero), hn::Or(hn::Eq(x, one), hn::And(hn::Eq(magnitude, one), hn::Eq(hn::Abs(y), infinity))));
  DoubleVec value = exp2ForFloat(product);
  const DoubleVec halved = hn::Mul(y, half);
  const auto isWhole = hn::Eq(hn::Floor(y), y), isEven = hn::Eq(hn::Floor(halved), halved);
  const DoubleVec sign = hn::IfThenElse(isEven, one, hn::CopySign(one, x));
  value = hn::Mul(value, hn::IfThenElse(isWhole, sign, one));
  const auto hasNoRoot = hn::And(hn::And(hn::Lt(x, zero), hn::Lt(magnitude, infinity)), hn::Ne(hn::Floor(y), y));
  value = hn::IfThenElse(hasNoRoot, setDouble(std::numeric_limits<double>::quiet_NaN()), value);
  return hn::IfThenElse(isOne, one, value);
}

/// x^y as C's pow defines it, for special values too; 0.51 ULP. Squares and cubes are products, a cube 1.01 ULP.
HWY_INLINE FloatVec pow(FloatVec x, FloatVec y) {
  const auto isCube = hn::Eq(y, set(3.0f)), isProduct = hn::Or(isCube, hn::Eq(y, set(2.0f)));
  const FloatVec square = hn::Mul(x, x), product = choose(isCube, hn::Mul(x, square), square);
  if (hn::AllTrue(FloatTag(), isProduct)) return product;
  const DoubleTag d;
  const hn::Rebind<float, DoubleTag> narrow;
  HWY_ALIGN float xs[kLanes], ys[kLanes];
  hn::Store(x, FloatTag(), xs);
  hn::Store(y, FloatTag(), ys);
  for (int64_t i = 0; i < kLanes; i += kDoubles) {
    const DoubleVec value =
        powerOfDoubles(hn::PromoteTo(d, hn::Load(narrow, xs + i)), hn::PromoteTo(d, hn::Load(narrow, ys + i)));
    hn::Store(hn::DemoteTo(narrow, value), narrow, xs + i);
  }
  return choose(isProduct, product, hn::Load(FloatTag(), xs));
}

// ---- functions of float whose value is computed in double: their error is that of the last rounding

HWY_INLINE DoubleVec notANumber() { return setDouble(std::numeric_limits<double>::quiet_NaN()); }
HWY_INLINE DoubleVec naturalLog(DoubleVec x) { return hn::Mul(log2OfFloat(x), setDouble(0.69314718055994531)); }
HWY_INLINE DoubleVec exponential(DoubleVec x) { return exp2ForFloat(hn::Mul(x, setDouble(1.4426950408889634))); }
/// `small` where |x| < limit.
HWY_INLINE DoubleVec chooseSmall(DoubleVec x, double limit, DoubleVec small, DoubleVec other) {
  return hn::IfThenElse(hn::Lt(hn::Abs(x), setDouble(limit)), small, other);
}

struct Sinh {
  HWY_INLINE DoubleVec operator()(DoubleVec x) const {
    const DoubleVec series = polynomial(hn::Mul(x, x), {1.0, 1.0 / 6, 1.0 / 120, 1.0 / 5040, 1.0 / 362880});
    const DoubleVec e = exponential(x);
    const DoubleVec large = hn::Mul(setDouble(0.5), hn::Sub(e, hn::Div(setDouble(1.0), e)));
    return chooseSmall(x, 0.3, hn::Mul(x, series), large);
  }
};
struct Cosh {
  HWY_INLINE DoubleVec operator()(DoubleVec x) const {
    const DoubleVec e = exponential(x);
    return hn::Mul(setDouble(0.5), hn::Add(e, hn::Div(setDouble(1.0), e)));
  }
};
struct Asinh {
  HWY_INLINE DoubleVec operator()(DoubleVec x) const {
    const DoubleVec a = hn::Abs(x), square = hn::Mul(x, x);
    const DoubleVec large = naturalLog(hn::Add(a, hn::Sqrt(hn::Add(square, setDouble(1.0)))));
    const DoubleVec small = hn::NegMulAdd(hn::Mul(x, square), setDouble(1.0 / 6), x);
    return chooseSmall(x, 0x1p-12, small, hn::CopySign(large, x));
  }
};
struct Acosh {
  HWY_INLINE DoubleVec operator()(DoubleVec x) const {
    const DoubleVec one = setDouble(1.0);
    const DoubleVec root = hn::Sqrt(hn::Mul(hn::Sub(x, one), hn::Add(x, one)));
    return hn::IfThenElse(hn::Lt(x, one), notANumber(), naturalLog(hn::Add(x, root)));
  }
};
struct Atanh {
  HWY_INLINE DoubleVec operator()(DoubleVec x) const {
    const DoubleVec one = setDouble(1.0), half = setDouble(0.5);
    const DoubleVec large = hn::Mul(half, naturalLog(hn::Div(hn::Add(one, x), hn::Sub(one, x))));
    const DoubleVec value = hn::IfThenElse(hn::Gt(hn::Abs(x), one), notANumber(), large);
    return chooseSmall(x, 0x1p-12, hn::MulAdd(hn::Mul(x, hn::Mul(x, x)), setDouble(1.0 / 3), x), value);
  }
};
struct Asin {
  HWY_INLINE DoubleVec operator()(DoubleVec x) const { return hn::Asin(DoubleTag(), x); }
};
struct Acos {
  HWY_INLINE DoubleVec operator()(DoubleVec x) const { return hn::Acos(DoubleTag(), x); }
};
struct Atan {
  HWY_INLINE DoubleVec operator()(DoubleVec x) const { return hn::Atan(DoubleTag(), x); }
};

/// A float function whose value `Function` computes in double.
template <class Function>
HWY_INLINE FloatVec inDouble(FloatVec x) {
  const DoubleTag d;
  const hn::Rebind<float, DoubleTag> narrow;
  HWY_ALIGN float lanes[kLanes];
  hn::Store(x, FloatTag(), lanes);
  for (int64_t i = 0; i < kLanes; i += kDoubles)
    hn::Store(hn::DemoteTo(narrow, Function()(hn::PromoteTo(d, hn::Load(narrow, lanes + i)))), narrow, lanes + i);
  return hn::Load(FloatTag(), lanes);
}

struct Sin {
  HWY_INLINE DoubleVec operator()(DoubleVec x) const { return hn::Sin(DoubleTag(), x); }
  static float one(float x) { return static_cast<float>(std::sin(static_cast<double>(x))); }
};
struct Cos {
  HWY_INLINE DoubleVec operator()(DoubleVec x) const { return hn::Cos(DoubleTag(), x); }
  static float one(float x) { return static_cast<float>(std::cos(static_cast<double>(x))); }
};
struct Tan {
  HWY_INLINE DoubleVec operator()(DoubleVec x) const {
    return hn::Div(hn::Sin(DoubleTag(), x), hn::Cos(DoubleTag(), x));
  }
  static float one(float x) { return static_cast<float>(std::tan(static_cast<double>(x))); }
};

/// Far from 0 the reduction to one period needs more digits: those elements one by one. An element's result does not
/// depend on its neighbours.
template <class Function>
HWY_INLINE FloatVec periodic(FloatVec x) {
  constexpr float kFar = 30000.0f;
  const auto isNear = hn::Le(hn::Abs(x), set(kFar));
  const FloatVec y = inDouble<Function>(hn::IfThenElseZero(isNear, x));
  if (hn::AllTrue(FloatTag(), isNear)) return y;
  HWY_ALIGN float from[kLanes], lanes[kLanes];
  hn::Store(x, FloatTag(), from);
  hn::Store(y, FloatTag(), lanes);
  for (int64_t i = 0; i < kLanes; ++i)
    if (!(std::fabs(from[i]) <= kFar)) lanes[i] = Function::one(from[i]);
  return hn::Load(FloatTag(), lanes);
}

}  // namespace HWY_NAMESPACE
}  // namespace opkit::cpu
HWY_AFTER_NAMESPACE();
#endif
