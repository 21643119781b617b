// Mathematical functions on Highway vectors of float, for CPU kernels that are compiled once per instruction set.
//
// Included by such a .cpp after highway.h, once per target. Polynomials, reductions and errors are those of
// shaders/include/math.glsl, here without branches; NaN gives NaN and infinities give the limits.
#if defined(OPKIT_VECTOR_MATH_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef OPKIT_VECTOR_MATH_INL_H
#undef OPKIT_VECTOR_MATH_INL_H
#else
#define OPKIT_VECTOR_MATH_INL_H
#endif

#include <limits>

#include "engine/backend/cpu/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace opkit::cpu {
namespace HWY_NAMESPACE {

constexpr float kLn2High = 0.6923828125f;  // 10 bits: exact times any exponent
constexpr float kLn2Low = 7.6436805994530941e-4f;

/// coefficients[0] + x * (coefficients[1] + ...)
template <size_t N>
HWY_INLINE FloatVec polynomial(FloatVec x, const float (&coefficients)[N]) {
  FloatVec sum = set(coefficients[N - 1]);
  for (size_t i = N - 1; i-- > 0;) sum = hn::MulAdd(sum, x, set(coefficients[i]));
  return sum;
}

/// The lesser, or the greater, of x and a limit. A NaN of x stays: the instructions of x86 give their second operand
/// then, those of others may not.
HWY_INLINE FloatVec atMost(FloatVec x, FloatVec high) {
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_SSE4
  return hn::Min(high, x);
#else
  return choose(hn::Gt(x, high), high, x);
#endif
}
HWY_INLINE FloatVec atLeast(FloatVec x, FloatVec low) {
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_SSE4
  return hn::Max(low, x);
#else
  return choose(hn::Lt(x, low), low, x);
#endif
}
/// Clamps to [low, high]. A NaN stays.
HWY_INLINE FloatVec limitTo(FloatVec x, FloatVec low, FloatVec high) { return atMost(atLeast(x, low), high); }

/// (e^r - 1 - r) / r^2 for |r| <= 0.35
HWY_INLINE FloatVec expTail(FloatVec r) {
  return polynomial(r, {0.5f, 0.1666666668f, 0.04166645681f, 0.008333310024f, 0.001393454193f, 0.0001989198131f});
}

/// The rounding error of `product` = x * y; |x|, |y| < 2^100.
HWY_INLINE FloatVec productError(FloatVec x, FloatVec y, FloatVec product) {
#if HWY_NATIVE_FMA
  return hn::MulSub(x, y, product);
#else  // Dekker
  const FloatVec split = set(4097.0f), bigX = hn::Mul(x, split), bigY = hn::Mul(y, split);
  const FloatVec highX = hn::Sub(bigX, hn::Sub(bigX, x)), lowX = hn::Sub(x, highX);
  const FloatVec highY = hn::Sub(bigY, hn::Sub(bigY, y)), lowY = hn::Sub(y, highY);
  const FloatVec high = hn::Sub(hn::Mul(highX, highY), product);
  return hn::Add(hn::Add(hn::Add(high, hn::Mul(highX, lowY)), hn::Mul(lowX, highY)), hn::Mul(lowX, lowY));
#endif
}

/// e^(x + low) = fraction * 2^n, where n is the whole number next to x / log 2, and fraction lies in [0.7, 1.42].
struct SplitExp {
  FloatVec fraction;
  hn::Vec<hn::RebindToSigned<FloatTag>> exponent;  // the last 9 bits are those of n + bias
};
/// For |x| < 2^20, 1.2 ULP; low, if given, is below an ULP of x. The sum with 1.5 * 2^23 has n in its last bits.
template <int kBias, class... Low>
HWY_INLINE SplitExp splitExp(FloatVec x, Low... low) {
  const FloatVec whole = set(0x1.8p23f + kBias), shifted = hn::MulAdd(x, set(1.44269504089f), whole);
  const FloatVec n = hn::Sub(shifted, whole);
  FloatVec r = hn::NegMulAdd(n, set(kLn2High), x);
  if constexpr (sizeof...(low) > 0) r = hn::Add(r, low...);
  r = hn::NegMulAdd(n, set(kLn2Low), r);
  const FloatVec fraction = hn::Add(set(1.0f), hn::MulAdd(hn::Mul(r, r), expTail(r), r));
  return {fraction, hn::BitCast(hn::RebindToSigned<FloatTag>(), shifted)};
}
/// 2^(exponent - 127) of the last 8 bits.
template <class I>
HWY_INLINE FloatVec powerOfTwo(I exponent) {
  return hn::BitCast(FloatTag(), hn::ShiftLeft<23>(exponent));
}

/// factor * e^(x + low) for |x| <= 170. The power may be denormal if the result is not: it is two factors.
HWY_INLINE FloatVec expTimes(FloatVec factor, FloatVec x, FloatVec low) {
  const SplitExp e = splitExp<2 * 127>(x, low);
  const auto half = hn::ShiftRight<1>(e.exponent);
  return hn::Mul(hn::Mul(hn::Mul(factor, e.fraction), powerOfTwo(half)), powerOfTwo(hn::Sub(e.exponent, half)));
}

/// 2^64 e^(x + low) for -130 <= x <= 0: so large that it is never denormal.
HWY_INLINE FloatVec largeExp(FloatVec x, FloatVec low) {
  const SplitExp e = splitExp<127 + 64>(x, low);
  return hn::Mul(e.fraction, powerOfTwo(e.exponent));
}

/// e^x for -87 <= x <= 0.
HWY_INLINE FloatVec expOfSmall(FloatVec x) {
  const SplitExp e = splitExp<127>(x);
  return hn::Mul(e.fraction, powerOfTwo(e.exponent));
}
constexpr float kLeastExp = -87.336544f;  // log(2^-126)
/// e^x for x <= 0, 1.2 ULP. A denormal result is 0: each product that read it would cost a hundred cycles.
HWY_INLINE FloatVec expOfNegative(FloatVec x) { return choose(hn::Lt(x, set(kLeastExp)), set(0.0f), expOfSmall(x)); }

/// The same for all x.
HWY_INLINE FloatVec exp(FloatVec x) {
  const hn::RebindToSigned<FloatTag> di;
  const SplitExp e = splitExp<0>(x);  // 2^128 is no float: n is added to the exponent of the fraction
  const FloatVec y = hn::BitCast(FloatTag(), hn::Add(hn::BitCast(di, e.fraction), hn::ShiftLeft<23>(e.exponent)));
  const FloatVec most = set(88.7228317f), infinity = set(std::numeric_limits<float>::infinity());
  const FloatVec finite = choose(hn::Lt(x, set(kLeastExp)), set(0.0f), y);
  return choose(hn::Le(x, most), finite, hn::Add(x, infinity));  // NaN stays
}

/// 1 ULP. Negative x gives NaN.
HWY_INLINE FloatVec log(FloatVec x) {
  const FloatTag d;
  const hn::RebindToSigned<FloatTag> di;
  const auto tiny = hn::Lt(x, set(1.17549435e-38f));
  const auto bits = hn::BitCast(di, choose(tiny, hn::Mul(x, set(8388608.0f)), x));
  const auto exponent = hn::ShiftRight<23>(hn::Sub(bits, hn::Set(di, 0x3F3504F3)));
  const FloatVec e = hn::Add(hn::ConvertTo(d, exponent), choose(tiny, set(-23.0f), set(0.0f)));
  const FloatVec f = hn::Sub(hn::BitCast(d, hn::Sub(bits, hn::ShiftLeft<23>(exponent))), set(1.0f));
  const FloatVec p = polynomial(f, {0.3333333118f, -0.2499999696f, 0.2000071575f, -0.1666780232f, 0.1424905765f,
                                    -0.1242568733f, 0.1168541992f, -0.1147973385f, 0.06971611471f});
  const FloatVec tail = hn::Mul(hn::Mul(f, f), hn::MulAdd(f, p, set(-0.5f)));
  FloatVec y = hn::MulAdd(e, set(kLn2High), hn::Add(f, hn::MulAdd(e, set(kLn2Low), tail)));
  const FloatVec infinity = set(std::numeric_limits<float>::infinity());
  y = choose(hn::Eq(x, set(0.0f)), hn::Neg(infinity), y);
  y = choose(hn::Lt(x, set(0.0f)), set(std::numeric_limits<float>::quiet_NaN()), y);
  return choose(hn::Lt(x, infinity), y, x);  // NaN and +Inf pass
}

/// log(1 + x), 3 ULP.
HWY_INLINE FloatVec log1p(FloatVec x) {
  const FloatVec u = hn::Add(set(1.0f), x);
  const FloatVec logarithm = log(u);
  const FloatVec corrected = hn::Mul(logarithm, hn::Div(x, hn::Sub(u, set(1.0f))));
  const FloatVec y = choose(hn::Gt(u, set(1e9f)), logarithm, corrected);
  return choose(hn::Eq(u, set(1.0f)), x, y);
}

/// e^x - 1, 4 ULP.
HWY_INLINE FloatVec expm1(FloatVec x) {
  const FloatVec small = hn::MulAdd(hn::Mul(x, x), expTail(x), x);
  return choose(hn::Le(hn::Abs(x), set(0.35f)), small, hn::Sub(exp(x), set(1.0f)));
}

/// 4 ULP.
HWY_INLINE FloatVec tanh(FloatVec x) {
  const FloatVec a = hn::Abs(x);
  const FloatVec z = hn::Mul(x, x);  // (tanh(sqrt z) / sqrt z - 1) / z
  const FloatVec p = polynomial(z, {-0.3333332892f, 0.1333276776f, -0.05385060911f, 0.02099575389f, -0.006094641315f});
  const FloatVec small = hn::MulAdd(hn::Mul(x, z), p, x);
  const FloatVec one = set(1.0f), e = expOfNegative(hn::Mul(a, set(-2.0f)));
  const FloatVec large = hn::Div(hn::Sub(one, e), hn::Add(one, e));
  return choose(hn::Lt(a, set(0.625f)), small, hn::CopySign(large, x));
}

/// 1 / (1 + e^-x), 4 ULP.
HWY_INLINE FloatVec sigmoid(FloatVec x) {
  const FloatVec e = expOfNegative(hn::Neg(hn::Abs(x)));
  return hn::Div(choose(hn::Lt(x, set(0.0f)), e, set(1.0f)), hn::Add(set(1.0f), e));
}

/// log(1 + e^x), 4 ULP.
HWY_INLINE FloatVec softplus(FloatVec x) {
  const FloatVec positive = atLeast(x, set(0.0f));
  return hn::Add(positive, log1p(expOfNegative(hn::Neg(hn::Abs(x)))));
}

/// 3 ULP.
HWY_INLINE FloatVec erf(FloatVec x) {
  const FloatVec a = hn::Abs(x);
  const FloatVec z = hn::Mul(x, x);  // erf(sqrt z) / sqrt z
  const FloatVec small =
      hn::Mul(x, polynomial(z, {1.128379167f, -0.3761263847f, 0.112837825f, -0.02686543073f, 0.005221031808f,
                                -0.0008484080406f, 0.0001126595903f, -9.667044571e-6f}));
  const FloatVec capped = atMost(a, set(4.0f));  // erf(4) rounds to 1
  const FloatVec q = polynomial(capped, {-0.0007658977797f, -1.125893652f, -0.6391412576f, -0.1032811176f,
                                         0.02260477224f, -0.003432351381f, 0.0003169370225f, -1.327236181e-5f});
  const FloatVec large = hn::Sub(set(1.0f), expOfSmall(q));  // q is log(erfc(a))
  return choose(hn::Lt(a, set(1.0f)), small, hn::CopySign(large, x));
}

/// x * tanh(log(1 + e^x)), 5 ULP: with e = e^x the factor is n / (n + 2), n = e * (e + 2).
HWY_INLINE FloatVec mish(FloatVec x) {
  const auto tail = hn::Lt(x, set(-20.0f));  // there the factor is e
  const FloatVec near = limitTo(x, set(-110.0f), set(20.0f));
  const FloatVec e = expTimes(choose(tail, near, set(1.0f)), near, set(0.0f));
  const FloatVec n = hn::Mul(e, hn::Add(e, set(2.0f)));
  const FloatVec left = choose(hn::Lt(x, near), hn::Mul(x, set(0.0f)), e);  // NaN of -Inf, as in the formula
  return choose(tail, left, hn::Mul(x, hn::Div(n, hn::Add(n, set(2.0f)))));
}

/// x / (1 + e^(-a x)), 5 ULP. An error of a x counts |a x| times in the power, so the product is kept in two floats.
HWY_INLINE FloatVec swish(FloatVec x, FloatVec a) {
  const FloatVec t = hn::Mul(a, x), error = productError(a, x, t), zero = set(0.0f);
  const FloatVec low = choose(hn::Lt(hn::Abs(error), set(1.0f)), error, zero);  // 0 where it overflows
  const auto negative = hn::Lt(t, zero), tail = hn::Lt(t, set(-20.0f));         // there 1 + e^t is 1
  const FloatVec down = hn::Neg(hn::Abs(t)), least = set(-104.0f);              // below, e^t is 0
  const FloatVec e = expTimes(choose(tail, x, set(1.0f)), atLeast(down, least), choose(negative, low, hn::Neg(low)));
  const FloatVec left = choose(hn::Lt(t, least), hn::Mul(x, zero), e);  // NaN of -Inf, as in the formula
  return choose(tail, left, hn::Mul(x, hn::Div(choose(negative, e, set(1.0f)), hn::Add(set(1.0f), e))));
}

/// x * (1 + erf(x / sqrt 2)) / 2, 5 ULP: on both sides through erfc of a = |x|, so that nothing cancels. With
/// z = a / sqrt 2 and u = z / (2 + z) its logarithm is log(1 - u) - a^2 / 2 + g, g a polynomial of u; it is kept in two
/// floats, since an error of it counts a^2 / 2 times.
HWY_INLINE FloatVec gelu(FloatVec x) {
  const FloatVec most = set(15.0f), a = atMost(hn::Abs(x), most);
  const FloatVec z = hn::Mul(a, set(0.70710678119f)), r = hn::Div(set(1.0f), hn::Add(z, set(2.0f)));
  const FloatVec u = hn::Mul(z, r);
  const FloatVec g =
      hn::Mul(u, polynomial(u, {-1.2567593458f, -0.30319191028f, 0.16076164659f, 0.19772211739f, 0.043220643671f,
                                -0.064765492241f, 0.044588377028f, -0.36708137858f, 0.41393971895f, -0.13400086154f}));
  const FloatVec halved = hn::Mul(set(0.5f), a), square = hn::Mul(halved, a);
  const FloatVec exponent = hn::Sub(g, square), rest = hn::Sub(g, hn::Add(exponent, square));
  const FloatVec low = hn::Sub(rest, productError(halved, a, square));
  // a erfc(z) / 2: r is (1 - u) / 2
  const FloatVec part = hn::Mul(hn::Mul(hn::Mul(a, r), largeExp(exponent, low)), set(0x1p-64f));
  const FloatVec y = hn::Sub(atLeast(x, set(0.0f)), part);
  return choose(hn::Lt(x, hn::Neg(most)), hn::Mul(x, set(0.0f)), y);  // -0; NaN of -Inf, as in the formula
}

/// x / (1 + e^-u) with u = 2 * sqrt(2 / pi) * (x + 0.044715 x^3), 4 ULP. An error of u counts |u| times in e^-u, so u
/// is kept in two floats.
HWY_INLINE FloatVec geluTanh(FloatVec x) {
  const FloatVec c = set(1.5957691669f), k = set(0.0447149985f);
  const FloatVec least = set(-11.0f), near = limitTo(x, least, set(10.0f));  // beyond, the result is 0 or x
  const FloatVec square = hn::Mul(near, near), cubic = hn::Mul(square, k);
  const FloatVec cubicLow = hn::Add(productError(square, k, cubic), hn::MulAdd(productError(near, near, square), k,
                                                                               hn::Mul(square, set(1.5461445e-9f))));
  const FloatVec factor = hn::Add(set(1.0f), cubic), more = hn::Sub(factor, cubic);
  const FloatVec factorLow =
      hn::Add(hn::Add(hn::Sub(set(1.0f), more), hn::Sub(cubic, hn::Sub(factor, more))), cubicLow);
  const FloatVec linear = hn::Mul(c, near);
  const FloatVec linearLow = hn::MulAdd(near, set(-4.534068e-8f), productError(c, near, linear));
  const FloatVec u = hn::Mul(linear, factor);
  const FloatVec uLow =
      hn::Add(productError(linear, factor, u), hn::MulAdd(linear, factorLow, hn::Mul(linearLow, factor)));
  const auto negative = hn::Lt(near, set(0.0f));
  const FloatVec e = largeExp(hn::Neg(hn::Abs(u)), choose(negative, uLow, hn::Neg(uLow)));
  const FloatVec one = set(1.0f), small = set(0x1p-64f);
  const FloatVec quotient = hn::Div(choose(negative, e, one), hn::MulAdd(e, small, one));
  const FloatVec y = hn::Mul(hn::Mul(x, quotient), choose(negative, small, one));
  return choose(hn::Lt(x, least), hn::Mul(x, set(0.0f)), y);  // -0; NaN of -Inf, as in the formula
}

}  // namespace HWY_NAMESPACE
}  // namespace opkit::cpu
HWY_AFTER_NAMESPACE();
#endif
