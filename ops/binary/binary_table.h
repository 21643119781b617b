// The binary family, one row per operator: its facts, and the expressions of its kernels. C++ and GLSL include this
// file and define what a row becomes; the oracle has rows of its own in binary_reference.cpp. Undefined row kinds
// vanish. Ids select the function in shaders/binary/*.comp: unique within a row kind.
//
// BINARY(id, Name, numericClass, types, low, high, cpu, cpuInteger, glsl, glslInteger)   elements and result of one
// type
//   types         the DTypeSet of both inputs
//   low, high     the domain the harness draws from
//   cpu, cpuInteger     C++ on double; on T = int64_t or uint64_t, whose result wraps into the stored type. Helpers:
//                       binary_scalars.cpp
//   glsl, glslInteger   on float; on the variant's ARITH. Helpers: shaders/binary/binary.comp
// COMPARE(id, Name, types, value)   result is bool; `value` is for the CPU kernel and GLSL at once, x and y of any type
// LOGIC(id, Name, value)            on bool, likewise
// BINARY_EDGES(Name, (edges))       OpDef::edges: where the function or a kernel changes the expression
#ifndef BINARY
#define BINARY(id, Name, numericClass, types, low, high, cpu, cpuInteger, glsl, glslInteger)
#endif
#ifndef BINARY_EDGES
#define BINARY_EDGES(Name, edges)
#endif
#ifndef COMPARE
#define COMPARE(id, Name, types, value)
#endif
#ifndef LOGIC
#define LOGIC(id, Name, value)
#endif

// clang-format off
BINARY(0, Add, OneRounding, kNumbers, -4, 4, x + y, wrapAdd(x, y), x + y, x + y)
BINARY(1, Sub, OneRounding, kNumbers, -4, 4, x - y, wrapSub(x, y), x - y, x - y)
BINARY(2, Mul, OneRounding, kNumbers, -4, 4, x * y, wrapMul(x, y), x * y, x * y)
BINARY(3, Div, FewRoundings, kNumbers, -4, 4, x / y, divide(x, y), x / y, divide(x, y))
BINARY(4, Max, Exact, kNumbers, -4, 4, isNan(x) ? x : x >= y ? x : y, x < y ? y : x,
       isNan(x) ? x : isNan(y) ? y : x >= y ? x : y, x < y ? y : x)
BINARY(5, Min, Exact, kNumbers, -4, 4, isNan(x) ? x : x <= y ? x : y, x < y ? x : y,
       isNan(x) ? x : isNan(y) ? y : x <= y ? x : y, x < y ? x : y)
BINARY(6, Pow, Transcendental, kNumbers, 0, 4, std::pow(x, y), integerPower(x, y), mathPow(x, y), integerPower(x, y))
// Sign of the divisor, as Python's %; and sign of the dividend, as C's fmod
BINARY(7, Mod, Exact, kIntegers, -4, 4, NAN, floorModulo(x, y), x, floorModulo(x, y))
BINARY(8, FMod, Exact, kNumbers, -4, 4, std::fmod(x, y), remainder(x, y), mathFmod(x, y), remainder(x, y))
BINARY(9, PRelu, OneRounding, kNumbers, -4, 4, x < 0 ? x * y : x, isNegative(x) ? wrapMul(x, y) : x, x < 0.0 ? x * y : x,
       x < ARITH(0) ? x * y : x)
BINARY(10, ShiftLeft, Exact, kUnsigned, 0, 9, NAN, shiftLeft(x, y), x, shiftLeft(x, y))
BINARY(11, ShiftRight, Exact, kUnsigned, 0, 9, NAN, shiftRight(x, y), x, shiftRight(x, y))
BINARY(12, BitwiseAnd, Exact, kIntegers, 0, 99, NAN, x & y, x, x & y)
BINARY(13, BitwiseOr, Exact, kIntegers, 0, 99, NAN, x | y, x, x | y)
BINARY(14, BitwiseXor, Exact, kIntegers, 0, 99, NAN, x ^ y, x, x ^ y)

BINARY_EDGES(Pow, (3, 32, 4096, 16777216))
BINARY_EDGES(ShiftLeft, (8, 16, 32, 64))
BINARY_EDGES(ShiftRight, (8, 16, 32, 64))

COMPARE(0, Equal, kAnyDType, x == y)
COMPARE(1, Less, kNumbers, x < y)
COMPARE(2, LessOrEqual, kNumbers, x <= y)
COMPARE(3, Greater, kNumbers, x > y)
COMPARE(4, GreaterOrEqual, kNumbers, x >= y)

LOGIC(5, And, x != 0 && y != 0)
LOGIC(6, Or, x != 0 || y != 0)
LOGIC(7, Xor, (x != 0) != (y != 0))

// clang-format on
#undef BINARY
#undef BINARY_EDGES
#undef COMPARE
#undef LOGIC
