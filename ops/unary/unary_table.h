// The unary family, one row per operator: its facts, and the expressions of its kernels. C++ and GLSL include this file
// and define what a row becomes; the oracle has rows of its own in unary_reference.cpp. Undefined row kinds vanish. Ids
// select the function in shaders/unary/unary.comp: never reuse one in a build.
//
// UNARY(id, Name, numericClass, alpha, beta, low, high, cpu, glsl)
//   alpha, beta   defaults of parameters a and b (0 where the function has none)
//   low, high     the domain the harness draws from
//   cpu, glsl     the value for x, in C++ on double (helpers: unary_scalars.cpp) and in GLSL on float (helpers:
//                 shaders/include/math.glsl). Written with comparisons, never max and min, so that NaN passes through.
// UNARY_INTEGER(id, Name, value, unsignedValue)   the same operator on integers x; on unsigned ones. One text for the
//                 CPU kernel and GLSL, where x is of type T
// UNARY_DOUBLE(id, Name, glsl)   the same operator in GLSL on double; operators without a row stay with the host there
// UNARY_TEST(id, Name, alpha, beta, cpu, glsl)    float in, bool out
// UNARY_FLOOR(Name, floor)   OpDef::errorFloor: the absolute error allowed besides 4 ULP
// UNARY_EDGES(Name, (edges))   OpDef::edges: where the function, math.glsl or vector_math-inl.h change the expression
#ifndef UNARY
#define UNARY(id, Name, numericClass, alpha, beta, low, high, cpu, glsl)
#endif
#ifndef UNARY_INTEGER
#define UNARY_INTEGER(id, Name, value, unsignedValue)
#endif
#ifndef UNARY_DOUBLE
#define UNARY_DOUBLE(id, Name, glsl)
#endif
#ifndef UNARY_TEST
#define UNARY_TEST(id, Name, alpha, beta, cpu, glsl)
#endif
#ifndef UNARY_FLOOR
#define UNARY_FLOOR(Name, floor)
#endif
#ifndef UNARY_EDGES
#define UNARY_EDGES(Name, edges)
#endif

// clang-format off
// Piecewise linear
UNARY(0, Relu, Exact, 0, 0, -4, 4, x < 0 ? 0 : x, x < 0.0 ? 0.0 : x)
UNARY(1, LeakyRelu, OneRounding, 0.01f, 0, -4, 4, x < 0 ? a * x : x, x < 0.0 ? a * x : x)
UNARY(2, ThresholdedRelu, Exact, 1, 0, -4, 4, x <= a ? 0 : x, x <= a ? 0.0 : x)
UNARY(3, Clip, Exact, -INFINITY, INFINITY, -4, 4, x < a ? (a < b ? a : b) : x > b ? b : x,
      x < a ? (a < b ? a : b) : x > b ? b : x)
UNARY(4, HardSigmoid, Transcendental, 0.2f, 0.5f, -6, 6, limit(a * x + b), limit(a * x + b))
UNARY(5, HardSwish, Transcendental, 0, 0, -6, 6, x * limit(x / 6 + 0.5), x * limit(x * (1.0 / 6.0) + 0.5))
UNARY(6, Shrink, OneRounding, 0.5f, 0, -4, 4, x < -a ? x + b : x > a ? x - b : x == x ? 0 : x,
      x < -a ? x + b : x > a ? x - b : isNan(x) ? x : 0.0)
UNARY(7, Abs, Exact, 0, 0, -4, 4, std::fabs(x), abs(x))
UNARY(8, Neg, Exact, 0, 0, -4, 4, -x, -x)
UNARY(9, Sign, Exact, 0, 0, -4, 4, x > 0 ? 1 : x < 0 ? -1 : x, x > 0.0 ? 1.0 : x < 0.0 ? -1.0 : x)
UNARY(10, Floor, Exact, 0, 0, -9, 9, std::floor(x), floor(x))
UNARY(11, Ceil, Exact, 0, 0, -9, 9, std::ceil(x), ceil(x))
UNARY(12, Round, Exact, 0, 0, -9, 9, std::nearbyint(x), roundEven(x))

// Algebraic
UNARY(13, Sqrt, FewRoundings, 0, 0, 0, 100, std::sqrt(x), sqrt(x))
UNARY(14, Reciprocal, FewRoundings, 0, 0, -4, 4, 1 / x, 1.0 / x)
UNARY(15, Softsign, FewRoundings, 0, 0, -20, 20, x / (1 + std::fabs(x)), x / (1.0 + abs(x)))

// Exponential
UNARY(16, Exp, Transcendental, 0, 0, -10, 10, std::exp(x), mathExp(x))
UNARY(17, Log, Transcendental, 0, 0, 0, 100, std::log(x), mathLog(x))
UNARY(18, Sigmoid, Transcendental, 0, 0, -20, 20, 1 / (1 + std::exp(-x)), mathSigmoid(x))
UNARY(19, Softplus, Transcendental, 0, 0, -20, 20, softplus(x), mathSoftplus(x))
UNARY(20, Elu, Transcendental, 1, 0, -8, 8, x < 0 ? a * std::expm1(x) : x, x < 0.0 ? a * mathExpm1(x) : x)
UNARY(21, Selu, Transcendental, 1.67326319f, 1.05070102f, -8, 8, b * (x > 0 ? x : a * std::expm1(x)),
      b * (x > 0.0 ? x : a * mathExpm1(x)))
UNARY(22, Celu, Transcendental, 1, 0, -8, 8, x < 0 ? a * std::expm1(x / a) : x, x < 0.0 ? a * mathExpm1(x / a) : x)
UNARY(23, Mish, Transcendental, 0, 0, -8, 8, x * std::tanh(softplus(x)), mathMish(x))
UNARY(39, Swish, Transcendental, 1, 0, -8, 8, swish(x, a), mathSwish(x, a))

// Error function
UNARY(24, Erf, Transcendental, 0, 0, -5, 5, std::erf(x), mathErf(x))
UNARY(25, Gelu, Transcendental, 0, 0, -6, 6, gelu(x), mathGelu(x))
UNARY(26, GeluTanh, Transcendental, 0, 0, -6, 6, geluTanh(x), mathGeluTanh(x))

// Hyperbolic
UNARY(27, Tanh, Transcendental, 0, 0, -10, 10, std::tanh(x), mathTanh(x))
UNARY(28, Sinh, Transcendental, 0, 0, -5, 5, std::sinh(x), mathSinh(x))
UNARY(29, Cosh, Transcendental, 0, 0, -5, 5, std::cosh(x), mathCosh(x))
UNARY(30, Asinh, Transcendental, 0, 0, -20, 20, std::asinh(x), mathAsinh(x))
UNARY(31, Acosh, Transcendental, 0, 0, 1, 20, std::acosh(x), mathAcosh(x))
UNARY(32, Atanh, Transcendental, 0, 0, -0.95, 0.95, std::atanh(x), mathAtanh(x))

// Trigonometric
UNARY(33, Sin, Transcendental, 0, 0, -10, 10, std::sin(x), mathSin(x))
UNARY(34, Cos, Transcendental, 0, 0, -10, 10, std::cos(x), mathCos(x))
UNARY(35, Tan, Transcendental, 0, 0, -1.3, 1.3, std::tan(x), mathSin(x) / mathCos(x))
UNARY(36, Asin, Transcendental, 0, 0, -1, 1, std::asin(x), mathAsin(x))
UNARY(37, Acos, Transcendental, 0, 0, -1, 1, std::acos(x), mathAcos(x))
UNARY(38, Atan, Transcendental, 0, 0, -20, 20, std::atan(x), mathAtan(x))

UNARY_INTEGER(0, Relu, x < T(0) ? T(0) : x, x)
UNARY_INTEGER(7, Abs, x < T(0) ? -x : x, x)
UNARY_INTEGER(8, Neg, -x, x)
UNARY_INTEGER(9, Sign, x > T(0) ? T(1) : x < T(0) ? T(-1) : T(0), x == T(0) ? T(0) : T(1))

UNARY_DOUBLE(0, Relu, x < 0.0lf ? 0.0lf : x)
UNARY_DOUBLE(1, LeakyRelu, x < 0.0lf ? a * x : x)
UNARY_DOUBLE(2, ThresholdedRelu, x <= a ? 0.0lf : x)
UNARY_DOUBLE(3, Clip, x < a ? (a < b ? a : b) : x > b ? b : x)
UNARY_DOUBLE(7, Abs, abs(x))
UNARY_DOUBLE(8, Neg, -x)
UNARY_DOUBLE(9, Sign, x > 0.0lf ? 1.0lf : x < 0.0lf ? -1.0lf : x)
UNARY_DOUBLE(10, Floor, floor(x))
UNARY_DOUBLE(11, Ceil, ceil(x))
UNARY_DOUBLE(12, Round, roundToEven(x))
UNARY_DOUBLE(13, Sqrt, sqrt(x))
UNARY_DOUBLE(14, Reciprocal, 1.0lf / x)
UNARY_DOUBLE(15, Softsign, x / (1.0lf + abs(x)))
UNARY_DOUBLE(16, Exp, mathExp(x))
UNARY_DOUBLE(17, Log, mathLog(x))
UNARY_DOUBLE(18, Sigmoid, 1.0lf / (1.0lf + mathExp(-x)))

// a * x + b cancels: the product's rounding, 2^-24 of |a * x|, stays. It is at most 4 where the result is not clamped.
UNARY_FLOOR(HardSigmoid, 0x1p-22)
// x / 6 + 1/2 cancels near -3: two roundings of 1/2, 2^-24 each, times 3.
UNARY_FLOOR(HardSwish, 0x1p-22)
// They oscillate: mathSine reduces its argument with an error below 2^-34, from pi / 2 in three parts or in fixed point.
UNARY_FLOOR(Sin, 0x1p-32)
UNARY_FLOOR(Cos, 0x1p-32)
UNARY_FLOOR(Tan, 0x1p-32)

UNARY_EDGES(ThresholdedRelu, (1))
UNARY_EDGES(HardSigmoid, (2.5))
UNARY_EDGES(HardSwish, (3))
UNARY_EDGES(Floor, (2, 3, 4194304, 8388608))
UNARY_EDGES(Ceil, (2, 3, 4194304, 8388608))
UNARY_EDGES(Round, (2, 3, 3.5, 4194304, 4194304.5, 8388608, 4503599627370496.0))
UNARY_EDGES(Exp, (88.7228394, 88.8, 87.3365479, 103.972084, 104, 709.782712893384, 708.3964185322641, 745.1332191019411))
UNARY_EDGES(Log, (0.70710678118654752, 1.41421356237309505, 2, 2.71828182845904524))
UNARY_EDGES(Sigmoid, (16.635532, 17.328679, 88.8, 103.972084, 104, 709.782712893384, 745.1332191019411))
UNARY_EDGES(Softplus, (16.635532, 17.328679, 88.8, 103.972084, 104, 709.782712893384, 745.1332191019411))
UNARY_EDGES(Elu, (0.35, 17.328679, 104))
UNARY_EDGES(Selu, (0.35, 17.328679, 104))
UNARY_EDGES(Celu, (0.35, 17.328679, 104))
UNARY_EDGES(Mish, (20, 40, 103.972084, 110))
UNARY_EDGES(Swish, (20, 30, 103.972084, 104))
UNARY_EDGES(Erf, (3.9192059, 4, 5.8635847))
UNARY_EDGES(Gelu, (0.75, 1.41421356237309505, 5.5, 13.1, 14.5, 15))
UNARY_EDGES(GeluTanh, (4.1, 10, 12))
UNARY_EDGES(Tanh, (0.625, 9.0109138, 10, 44.3614197, 19.0615474))
UNARY_EDGES(Sinh, (0.3, 88, 88.7228394, 89.4159851, 710.4758600739439))
UNARY_EDGES(Cosh, (88, 88.7228394, 89.4159851, 710.4758600739439))
UNARY_EDGES(Asinh, (0.000244140625, 1e9, 1.8446743e19, 1.3407807929942596e154))
UNARY_EDGES(Acosh, (1e9, 1.8446743e19, 1.3407807929942596e154))
UNARY_EDGES(Atanh, (0.000244140625))
UNARY_EDGES(Sin, (0.78539816339744831, 1.57079632679489662, 3.14159265358979324, 6.28318530717958648, 8192, 30000))
UNARY_EDGES(Cos, (0.78539816339744831, 1.57079632679489662, 3.14159265358979324, 6.28318530717958648, 8192, 30000))
UNARY_EDGES(Tan, (0.78539816339744831, 1.57079632679489662, 3.14159265358979324, 6.28318530717958648, 8192, 30000))
UNARY_EDGES(Atan, (0.41421356237309505, 2.41421356237309505))

UNARY_TEST(64, IsNaN, 0, 0, std::isnan(x), isNan(x))
UNARY_TEST(65, IsInf, 1, 1, std::isinf(x) && (x > 0 ? a : b) != 0, isInf(x) && (x > 0.0 ? a : b) != 0.0)

// clang-format on
#undef UNARY
#undef UNARY_INTEGER
#undef UNARY_DOUBLE
#undef UNARY_TEST
#undef UNARY_FLOOR
#undef UNARY_EDGES
