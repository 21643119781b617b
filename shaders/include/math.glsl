// Mathematical functions on float. Their error does not depend on the device's built-ins.
//
// They use only additions, multiplications, divisions, square roots and bit operations. Each function states its
// error, measured against double on correctly rounded arithmetic; ops/unary/math_test.cpp compiles this file as C++
// and asserts the errors. NaN gives NaN, and infinities give the limits of the function. Polynomials are Chebyshev fits
// to the function named beside them. Every literal has an f suffix; without it C++ would read a double.
// Do not call these functions inside an [[unroll]] loop: spirv-opt's copies of the body lose `precise`. That costs up
// to 9 ULP of exp, and the small results of asinh and atanh.
#ifndef OPKIT_MATH_GLSL
#define OPKIT_MATH_GLSL

#ifndef INOUT
#define INOUT(type) inout type
#endif
#define kInfinity uintBitsToFloat(0x7F800000u)
#define kNaN uintBitsToFloat(0x7FC00000u)
const float kLn2High = 0.6923828125f;  // 10 bits: exact times any exponent
const float kLn2Low = 7.6436805994530941e-4f;
const float kPi = 3.14159265358979f;
const float kHalfPi = 1.57079632679490f;

// Bit tests: some devices drop NaN in comparisons and in the built-in tests.
bool isNan(float x) { return (floatBitsToUint(x) & 0x7FFFFFFFu) > 0x7F800000u; }
bool isInf(float x) { return (floatBitsToUint(x) & 0x7FFFFFFFu) == 0x7F800000u; }
/// Do not select between it and its own `magnitude`: a ? withSign(m, s) : m gives the wrong bits on a software device
/// (docs/decisions/0025-second-driver.md).
float withSign(float magnitude, float sign) {
  return uintBitsToFloat((floatBitsToUint(magnitude) & 0x7FFFFFFFu) | (floatBitsToUint(sign) & 0x80000000u));
}
/// 2^k for k in [-126, 127].
float powerOfTwo(int k) { return uintBitsToFloat(uint(k + 127) << 23); }
/// x * 2^k for k in [-250, 250], rounded once unless the result is denormal.
float scale(float x, int k) {
  const int half_ = k / 2;
  return x * powerOfTwo(half_) * powerOfTwo(k - half_);
}

/// The rounding error of `product` = x * y. Dekker; |x|, |y| < 2^100.
float productError(float x, float y, float product) {
  precise float bigX = x * 4097.0f;
  precise float highX = bigX - (bigX - x);
  precise float lowX = x - highX;
  precise float bigY = y * 4097.0f;
  precise float highY = bigY - (bigY - y);
  precise float lowY = y - highY;
  precise float error = ((highX * highY - product) + highX * lowY + lowX * highY) + lowX * lowY;
  return error;
}

/// factor * e^(x + low) for x in [-150, 88], where low is below an ULP of x. The power may be denormal if the result is
/// not.
float mathExpTimes(float factor, float x, float low) {
  const float n = floor(x * 1.44269504089f + 0.5f);
  precise float r = x - n * kLn2High;
  r = r - (n * kLn2Low - low);
  // (e^r - 1 - r) / r^2
  const float q = 0.5f + r * (0.1666666668f + r * (0.04166645681f + r * (0.008333310024f + r * (0.001393454193f +
                  r * 0.0001989198131f))));
  return scale(factor * (1.0f + (r + r * r * q)), int(n));
}

/// e^(x + low), where low is below an ULP of x.
float mathExpSplit(float x, float low) {
  if (isNan(x)) return x;
  if (x > 88.8f) return kInfinity;
  if (x < -104.0f) return 0.0f;
  return mathExpTimes(1.0f, x, low);
}

/// 1.2 ULP; denormal results where the device keeps them.
float mathExp(float x) { return mathExpSplit(x, 0.0f); }

/// Returns the mantissa of x > 0 in [sqrt(1/2), sqrt(2)) and sets `exponent`.
float splitExponent(float x, INOUT(float) exponent) {
  exponent = 0.0f;
  if (x < 1.17549435e-38f) {
    x = x * 8388608.0f;
    exponent = -23.0f;
  }
  const uint bits = floatBitsToUint(x);
  const int e = int(bits - 0x3F3504F3u) >> 23;
  exponent = exponent + float(e);
  return uintBitsToFloat(bits - (uint(e) << 23));
}

/// 1 ULP. Negative x gives NaN.
float mathLog(float x) {
  if (isNan(x) || (isInf(x) && x > 0.0f)) return x;
  if (x < 0.0f) return kNaN;
  if (x == 0.0f) return -kInfinity;
  float e = 0.0f;
  const float f = splitExponent(x, e) - 1.0f;
  // (log(1 + f) - f + f^2 / 2) / f^3
  const float p = 0.3333333118f + f * (-0.2499999696f + f * (0.2000071575f + f * (-0.1666780232f + f * (0.1424905765f +
                  f * (-0.1242568733f + f * (0.1168541992f + f * (-0.1147973385f + f * 0.06971611471f)))))));
  const float tail = f * f * (f * p - 0.5f);
  return e * kLn2High + (f + (tail + e * kLn2Low));
}

/// log(1 + x), 3 ULP.
float mathLog1p(float x) {
  precise float u = 1.0f + x;
  if (u == 1.0f || isNan(x)) return x;
  if (u > 1e9f) return mathLog(u);
  precise float back = u - 1.0f;
  return mathLog(u) * (x / back);
}

/// e^x - 1, 4 ULP.
float mathExpm1(float x) {
  if (isNan(x) || x > 0.35f || x < -0.35f) return mathExp(x) - 1.0f;
  const float q = 0.5f + x * (0.1666666668f + x * (0.04166645681f + x * (0.008333310024f + x * (0.001393454193f +
                  x * 0.0001989198131f))));
  return x + x * x * q;
}

/// 4 ULP.
float mathTanh(float x) {
  const float a = abs(x);
  if (isNan(x)) return x;
  if (a < 0.625f) {
    const float z = x * x;  // (tanh(sqrt z) / sqrt z - 1) / z
    return x + x * z * (-0.3333332892f + z * (0.1333276776f + z * (-0.05385060911f + z * (0.02099575389f -
           z * 0.006094641315f))));
  }
  return withSign(a > 10.0f ? 1.0f : 1.0f - 2.0f / (mathExp(2.0f * a) + 1.0f), x);
}

/// 1 / (1 + e^-x), 4 ULP.
float mathSigmoid(float x) {
  const float e = mathExp(-abs(x));
  return x < 0.0f ? e / (1.0f + e) : 1.0f / (1.0f + e);
}

/// log(1 + e^x), 4 ULP.
float mathSoftplus(float x) { return (x < 0.0f ? 0.0f : x) + mathLog1p(mathExp(-abs(x))); }

/// x * tanh(log(1 + e^x)), 5 ULP: with e = e^x the factor is n / (n + 2), n = e * (e + 2).
float mathMish(float x) {
  if (isNan(x) || x > 20.0f) return x;
  if (x == -kInfinity) return kNaN;  // infinity times zero, which a compiler may fold into zero
  if (x < -20.0f) return x < -110.0f ? -0.0f : mathExpTimes(x, x, 0.0f);  // the factor is e
  const float e = mathExp(x);
  const float n = e * (e + 2.0f);
  return x * (n / (n + 2.0f));
}

/// x / (1 + e^(-a x)), 5 ULP. An error of a x counts |a x| times in the power, so the product is kept in two floats.
float mathSwish(float x, float a) {
  precise float t = a * x;
  if (isNan(t)) return t;
  if (t > 30.0f) return x;
  if (t < -104.0f) return isInf(x) ? kNaN : withSign(0.0f, x);
  const float low = abs(x) < 1e30f && abs(a) < 1e30f ? productError(a, x, t) : 0.0f;
  if (t < -20.0f) return mathExpTimes(x, t, low);  // 1 + e^t is 1
  const float e = mathExpTimes(1.0f, -abs(t), t < 0.0f ? low : -low);
  return x * ((t < 0.0f ? e : 1.0f) / (1.0f + e));
}

/// 3 ULP.
float mathErf(float x) {
  const float a = abs(x);
  if (isNan(x)) return x;
  if (a < 1.0f) {
    const float z = x * x;  // erf(sqrt z) / sqrt z
    return x * (1.128379167f + z * (-0.3761263847f + z * (0.112837825f + z * (-0.02686543073f + z * (0.005221031808f +
           z * (-0.0008484080406f + z * (0.0001126595903f - z * 9.667044571e-6f)))))));
  }
  if (a >= 4.0f) return withSign(1.0f, x);
  // -log(erfc(a))
  const float q = 0.0007658977797f + a * (1.125893652f + a * (0.6391412576f + a * (0.1032811176f + a * (-0.02260477224f +
                  a * (0.003432351381f + a * (-0.0003169370225f + a * 1.327236181e-5f))))));
  return withSign(1.0f - mathExp(-q), x);
}

/// x * (1 + erf(x / sqrt 2)) / 2, 6 ULP. The negative side uses erfc to avoid cancellation.
float mathGelu(float x) {
  if (x > -0.75f) return 0.5f * x * (1.0f + mathErf(x * 0.70710678119f));
  if (isNan(x)) return x;
  if (x < -14.5f) return isInf(x) ? kNaN : -0.0f;  // -Inf * 0, as in the formula
  // log(erfc(a) / t) + a^2 with a = -x / sqrt 2 and t = 2 / (2 + a): its constant term, and the rest
  const float c = -1.2654322386f;
  const float divisor = 2.0f - x * 0.70710678119f;
  const float t = 2.0f / divisor;
  const float g = t * (0.99810510874f + t * (0.39367797971f + t * (-0.015681955963f + t * (0.21633844078f +
                  t * (-0.65674561262f + t * (0.27920657396f + t * (0.14575593174f - t * 0.095448434353f)))))));
  precise float square = x * x;
  precise float first = c - 0.5f * square;
  precise float back = first - c;
  precise float low = (c - (first - back)) - (0.5f * square + back);
  precise float exponent = first + g;
  low = low + (g - (exponent - first)) - 0.5f * productError(x, x, square);
  return mathExpTimes(x / divisor, exponent, low);
}

/// x / (1 + e^-u) with u = 2 * sqrt(2 / pi) * (x + 0.044715 x^3), 4 ULP. An error of u counts |u| times in e^-u, so u is
/// kept in two floats.
float mathGeluTanh(float x) {
  if (isNan(x) || x > 10.0f) return x;
  if (x < -12.0f) return isInf(x) ? kNaN : -0.0f;  // -Inf * 0, as in the formula
  const float c = 1.5957691669f, cLow = -4.534068e-8f, k = 0.0447149985f, kLow = 1.5461445e-9f;
  precise float square = x * x;
  precise float cubic = square * k;
  precise float cubicLow = productError(square, k, cubic) + (productError(x, x, square) * k + square * kLow);
  precise float factor = 1.0f + cubic;
  precise float factorLow = cubic > 1.0f ? (cubic - factor) + 1.0f : (1.0f - factor) + cubic;
  factorLow = factorLow + cubicLow;
  precise float linear = c * x;
  precise float linearLow = productError(c, x, linear) + cLow * x;
  precise float u = linear * factor;
  precise float uLow = productError(linear, factor, u) + (linear * factorLow + linearLow * factor);
  if (u < -20.0f) return mathExpTimes(x, u, uLow);  // 1 + e^u is 1
  const float e = x < 0.0f ? mathExpSplit(u, uLow) : mathExpSplit(-u, -uLow);
  return x < 0.0f ? x * (e / (1.0f + e)) : x / (1.0f + e);
}

/// 4 ULP.
float mathSinh(float x) {
  const float a = abs(x);
  if (a < 1.0f) {
    const float z = x * x;  // (sinh(sqrt z) / sqrt z - 1) / z
    return x + x * z * (0.1666666665f + z * (0.008333339676f + z * (0.0001983810197f + z * 2.806280258e-6f)));
  }
  if (isNan(x)) return x;
  if (a > 88.0f) {
    const float root = mathExp(0.5f * a);
    return withSign(0.5f * root * root, x);
  }
  const float e = mathExp(a);
  return withSign(0.5f * e - 0.5f / e, x);
}

/// 3 ULP.
float mathCosh(float x) {
  const float a = abs(x);
  if (a > 88.0f) {
    const float root = mathExp(0.5f * a);
    return 0.5f * root * root;
  }
  const float e = mathExp(a);
  return 0.5f * e + 0.5f / e;
}

/// 5 ULP.
float mathAsinh(float x) {
  const float a = abs(x);
  if (isNan(x)) return x;
  if (a > 1e9f) return withSign(mathLog(a) + 0.69314718056f, x);
  return withSign(mathLog1p(a + a * a / (1.0f + sqrt(a * a + 1.0f))), x);
}

/// 5 ULP; x below 1 gives NaN.
float mathAcosh(float x) {
  if (isNan(x) || x < 1.0f) return kNaN;
  if (x > 1e9f) return mathLog(x) + 0.69314718056f;
  const float t = x - 1.0f;
  return mathLog1p(t + sqrt(2.0f * t + t * t));
}

/// 5 ULP; x outside [-1, 1] gives NaN.
float mathAtanh(float x) {
  const float a = abs(x);
  if (isNan(x) || a > 1.0f) return kNaN;
  if (a == 1.0f) return withSign(kInfinity, x);
  return withSign(0.5f * mathLog1p(2.0f * a / (1.0f - a)), x);
}

/// The bits of 2 / pi after the point: as many as the largest float needs.
const uint kTwoOverPi[8] = {0xA2F9836Eu, 0x4E441529u, 0xFC2757D1u, 0xF534DDC0u,
                            0xDB629599u, 0x3C439041u, 0xFE5163ABu, 0xDEBBC561u};

/// 32 of these bits from number `first` on; bits before the point are zero.
uint twoOverPiBits(int first) {
  const int word = first >> 5;
  const uint shift = uint(first) & 31u;
  const uint high = word < 0 ? 0u : kTwoOverPi[word];
  const uint low = word < -1 ? 0u : kTwoOverPi[word + 1];
  return shift == 0u ? high : (high << shift) | (low >> (32u - shift));
}

/// The upper 32 bits of a * b; a < 2^24.
uint productHigh(uint a, uint b) {
  const uint aHigh = a >> 16, aLow = a & 0xFFFFu, bHigh = b >> 16, bLow = b & 0xFFFFu;
  const uint first = aLow * bHigh + (aLow * bLow >> 16);
  const uint second = aHigh * bLow + (first & 0xFFFFu);
  return aHigh * bHigh + (first >> 16) + (second >> 16);
}

/// The rest of x to the nearest multiple of pi / 2, and that multiple modulo 4: x * 2 / pi modulo 4 in fixed point, with
/// 62 bits after the point. For 1 <= |x|.
float quarterTurns(float x, INOUT(uint) turns) {
  const uint bits = floatBitsToUint(x);
  const int exponent = int((bits >> 23) & 0xFFu) - 150;  // |x| = mantissa * 2^exponent
  const uint mantissa = (bits & 0x7FFFFFu) | 0x800000u;
  const int first = exponent - 2;  // earlier bits of 2 / pi give multiples of 4
  const uint middle = twoOverPiBits(first + 32);
  const uint low = mantissa * middle + productHigh(mantissa, twoOverPiBits(first + 64));
  const uint carry = low < mantissa * middle ? 1u : 0u;
  const uint high = mantissa * twoOverPiBits(first) + productHigh(mantissa, middle) + carry;
  const uint part = (high << 2) | (low >> 30);  // of a quarter, in units of 2^-32
  turns = (high >> 30) + (part >> 31);
  const float r = (float(int(part)) + float(low << 2) * 2.3283064365e-10f) * 3.6572951982e-10f;  // pi / 2 * 2^-32
  if (x >= 0.0f) return r;
  turns = 0u - turns;
  return -r;
}

/// sin (quadrant 0) or cos (quadrant 1) of x: absolute error 1.3e-7.
float mathSine(float x, uint quadrant) {
  if (isNan(x) || isInf(x)) return kNaN;
  const float n = floor(x * 0.63661977237f + 0.5f);
  precise float r = x - n * 1.5703125f;
  r = r - n * 4.837512969970703125e-4f;
  r = r - n * 7.5497894158615963534e-8f;
  uint turns = 0u;
  if (abs(x) > 8192.0f)
    r = quarterTurns(x, turns);
  else
    turns = uint(int(n));
  const float z = r * r;
  const uint turn = (turns + quadrant) & 3u;
  // (sin(sqrt z) / sqrt z - 1) / z and (cos(sqrt z) - 1 + z / 2) / z^2
  const float s = r + r * z * (-0.1666666666f + z * (0.008333331866f + z * (-0.0001984008201f + z * 2.724931405e-6f)));
  const float c = 1.0f - 0.5f * z +
                  z * z * (0.04166666666f + z * (-0.001388888766f + z * (2.480059644e-5f - z * 2.730044862e-7f)));
  const float value = (turn & 1u) == 0u ? s : c;
  return (turn & 2u) == 0u ? value : -value;
}
float mathSin(float x) { return mathSine(x, 0u); }
float mathCos(float x) { return mathSine(x, 1u); }

/// (asin(sqrt z) / sqrt z - 1) for z in [0, 1/4].
float asinTail(float z) {
  return z * (0.1666666634f + z * (0.07500094543f + z * (0.04459940153f + z * (0.03110066274f + z * (0.01714923836f +
         z * 0.0336908472f)))));
}

/// 3 ULP; x outside [-1, 1] gives NaN.
float mathAsin(float x) {
  const float a = abs(x);
  if (isNan(x) || a > 1.0f) return kNaN;
  if (a <= 0.5f) return x + x * asinTail(x * x);
  const float z = 0.5f * (1.0f - a);
  const float root = sqrt(z);
  return withSign(kHalfPi - 2.0f * (root + root * asinTail(z)), x);
}

/// 3 ULP; x outside [-1, 1] gives NaN.
float mathAcos(float x) {
  const float a = abs(x);
  if (isNan(x) || a > 1.0f) return kNaN;
  if (a <= 0.5f) return kHalfPi - (x + x * asinTail(x * x));
  const float z = 0.5f * (1.0f - a);
  const float root = sqrt(z);
  const float angle = 2.0f * (root + root * asinTail(z));
  return x < 0.0f ? kPi - angle : angle;
}

/// 3 ULP.
float mathAtan(float x) {
  const float a = abs(x);
  if (isNan(x)) return x;
  float offset = 0.0f;
  float t = a;
  if (a > 2.41421356f) {
    offset = kHalfPi;
    t = isInf(a) ? 0.0f : -1.0f / a;
  } else if (a > 0.41421356f) {
    offset = 0.5f * kHalfPi;
    t = (a - 1.0f) / (a + 1.0f);
  }
  const float z = t * t;  // (atan(sqrt z) / sqrt z - 1) / z
  const float tail = t * z * (-0.3333333175f + z * (0.1999953879f + z * (-0.1426389711f + z * (0.1074309967f -
                     z * 0.06449835225f))));
  return withSign(offset + (t + tail), x);
}

/// x^y for finite x > 0 and finite y, 2 ULP: log(x) in two floats, times y in two floats, then e to that.
float powPositive(float x, float y) {
  float e = 0.0f;
  const float m = splitExponent(x, e);
  // log(m) = 2 atanh(s) with s = (m - 1) / (m + 1) in two floats
  const float numerator = m - 1.0f;
  precise float denominator = m + 1.0f;
  precise float lost = m - (denominator - 1.0f);
  const float s = numerator / denominator;
  precise float back = s * denominator;
  precise float low = ((numerator - back) - productError(s, denominator, back) - s * lost) / denominator;
  const float z = s * s;  // (atanh(sqrt z) / sqrt z - 1) / z
  const float tail = z * (0.3333333333f + z * (0.1999999937f + z * (0.1428588231f + z * (0.1109538186f +
                     z * 0.09687485569f))));
  precise float high = e * kLn2High;
  precise float sum = high + 2.0f * s;
  precise float rest = (high - sum) + 2.0f * s;
  if (abs(high) < abs(2.0f * s)) rest = (2.0f * s - sum) + high;
  rest = rest + (2.0f * (low + s * tail) + e * kLn2Low);
  precise float logHigh = sum + rest;
  precise float logLow = (sum - logHigh) + rest;
  // Beyond 4e9 every power except that of 1 overflows or vanishes.
  const float limited = y > 4e9f ? 4e9f : y < -4e9f ? -4e9f : y;
  precise float product = limited * logHigh;
  precise float productLow = productError(limited, logHigh, product) + limited * logLow;
  precise float exponent = product + productLow;
  precise float exponentLow = (product - exponent) + productLow;
  return mathExpSplit(exponent, exponentLow);
}

/// a^n for n < 32 by multiplications: exact where the result has 24 bits, because then every factor has.
float powByProducts(float a, uint n) {
  float product = 1.0f;
  for (int i = 0; i < 5; ++i) {
    if ((n & 1u) != 0u) product = product * a;
    n = n >> 1;
    a = a * a;
  }
  return product;
}

/// x^y for finite x > 0 and finite y != 0, 2 ULP. Exact where x and y are whole and the result is below 2^24; squares and
/// cubes are products, too.
float powFinite(float x, float y) {
  const float n = abs(y);
  if (n < 32.0f && floor(n) == n) {
    const float product = powByProducts(x, uint(n));
    if (y > 0.0f && n <= 3.0f) return product;
    if (floor(x) == x && product <= 16777216.0f) return y > 0.0f ? product : 1.0f / product;
  }
  return powPositive(x, y);
}

/// x^y like C's pow: 3 ULP, and exact where powFinite is. A negative x needs a whole y, else NaN.
float mathPow(float x, float y) {
  if (y == 0.0f || x == 1.0f) return 1.0f;
  if (isNan(x) || isNan(y)) return kNaN;
  const float a = abs(x);
  const bool whole = floor(y) == y;
  const bool odd = whole && floor(0.5f * y) != 0.5f * y;
  const bool rises = y > 0.0f;
  float value = 0.0f;
  if (isInf(y)) value = a == 1.0f ? 1.0f : (a > 1.0f) == rises ? kInfinity : 0.0f;
  else if (a == 0.0f) value = rises ? 0.0f : kInfinity;
  else if (isInf(a)) value = rises ? kInfinity : 0.0f;
  else if (x < 0.0f && !whole) return kNaN;
  else value = powFinite(a, y);
  // Not odd ? withSign(value, x) : value, which LLVM 15 compiles to value | x with AVX-512: see withSign.
  return odd && (floatBitsToUint(x) >> 31) != 0u ? -value : value;
}

/// The remainder of x / y with the sign of x, exact: subtracts multiples of y by powers of two, one by one.
float mathFmod(float x, float y) {
  float rest = abs(x);
  const float divisor = abs(y);
  if (isNan(x) || isNan(y) || isInf(rest) || divisor == 0.0f) return kNaN;
  if (isInf(divisor) || rest < divisor) return x;
  float multiple = divisor;
  while (multiple <= rest * 0.5f) multiple = multiple * 2.0f;
  for (int i = 0; i < 300 && multiple >= divisor; ++i) {
    if (rest >= multiple) rest = rest - multiple;
    multiple = multiple * 0.5f;
  }
  return withSign(rest, x);
}

#endif
