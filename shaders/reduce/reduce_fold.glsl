// What reduce.comp and reduce_parts.comp share: the terms of a reduction and how they are joined. Included after
// storage.glsl and rows.glsl.
#ifndef OPKIT_REDUCE_FOLD_GLSL
#define OPKIT_REDUCE_FOLD_GLSL

const uint kSum = 0, kMean = 1, kMax = 2, kMin = 3, kProd = 4, kL1 = 5, kL2 = 6, kSumSquare = 7, kLogSum = 8,
           kLogSumExp = 9;

#if defined(STORAGE_F32) || defined(STORAGE_F16) || defined(STORAGE_F64)
#define IS_FLOAT 1
#else
#define IS_FLOAT 0
#endif
#ifdef STORAGE_F64
#include "math_double.glsl"
#define kInfinite kDoubleInfinity
#else
#define kInfinite kInfinity
#endif

#if IS_FLOAT
bool isNotANumber(ARITH value) { return isNan(value); }
#else
bool isNotANumber(ARITH value) { return false; }
#endif

#ifdef STORAGE_F64
bool isRescaled(uint how) { return false; }
double rescale(uint how, double sum) { return 1.0lf; }
#elif IS_FLOAT
/// Folds whose sum may overflow or vanish although their result does not. Their `shift` is the factor of elements: 1,
/// or the power of two of rescale().
bool isRescaled(uint how) { return how == kMean || how == kL2 || how == kLogSum; }
/// The factor with which `sum` must be repeated; 1 if it may stay. The sum of 2^32 scaled elements or of their squares
/// is finite, and the squares of the smallest elements are not denormal.
float rescale(uint how, float sum) {
  if (isNan(sum) || isInf(sum)) return how == kL2 ? 1.2621774483536189e-29 : 2.3283064365386963e-10;  // 2^-96, 2^-32
  return how == kL2 && sum < 8.2718061255302767e-25 ? 7.9228162514264338e28 : 1.0;  // 2^-80: 2^96
}
#endif

ARITH larger(ARITH a, ARITH b) { return isNotANumber(a) ? a : isNotANumber(b) ? b : a >= b ? a : b; }
ARITH smaller(ARITH a, ARITH b) { return isNotANumber(a) ? a : isNotANumber(b) ? b : a <= b ? a : b; }

ARITH combine(uint how, ARITH a, ARITH b) {
  if (how == kMax) return larger(a, b);
  if (how == kMin) return smaller(a, b);
  if (how == kProd) return a * b;
  return a + b;
}

/// The contribution of element `value`. `shift` is the largest element for LogSumExp; see isRescaled for the others.
ARITH term(uint how, ARITH value, ARITH shift) {
  if (how == kL1) return value < ARITH(0) ? -value : value;
#if IS_FLOAT
  if (how == kLogSumExp) return mathExp(value - shift);
  if (isRescaled(how)) value *= shift;
#endif
  if (how == kL2 || how == kSumSquare) return value * value;
  return value;
}

#if defined(STORAGE_I8)
const ARITH kLeast = -128, kGreatest = 127;
#elif defined(STORAGE_I16)
const ARITH kLeast = -32768, kGreatest = 32767;
#elif defined(STORAGE_I32)
const ARITH kLeast = int(0x80000000), kGreatest = 0x7FFFFFFF;
#elif defined(STORAGE_I64)
const ARITH kLeast = ARITH(1) << 63, kGreatest = ~kLeast;
#elif defined(STORAGE_U8)
const ARITH kLeast = 0, kGreatest = 255;
#elif defined(STORAGE_U16)
const ARITH kLeast = 0, kGreatest = 65535;
#elif !IS_FLOAT
const ARITH kLeast = ARITH(0), kGreatest = ~ARITH(0);
#endif

/// The neutral element of a fold of `count` elements; Max and Min of integers begin at the first one.
ARITH start(uint how, ARITH first, uint count) {
#if IS_FLOAT
  if (how == kMax) return -kInfinite;
  if (how == kMin) return kInfinite;
#else
  if (how == kMax) return count > 0u ? first : kLeast;
  if (how == kMin) return count > 0u ? first : kGreatest;
#endif
  return how == kProd ? ARITH(1) : ARITH(0);
}

/// True if sums of `how` carry a compensation.
bool compensates(uint how) { return IS_FLOAT == 1 && how != kMax && how != kMin && how != kProd; }

/// a + b, adding the rounding error to `lost`: the exact sum is the result minus `lost`.
ARITH addExactly(ARITH a, ARITH b, inout ARITH lost) {
  precise ARITH sum = a + b;
#if IS_FLOAT
  precise ARITH partOfB = sum - a;
  precise ARITH error = (a - (sum - partOfB)) + (b - partOfB);
  if (!isNan(error) && !isInf(error)) lost -= error;  // an infinite sum has no error
#endif
  return sum;
}

/// The fold of an invocation; the sum is `sum` minus `lost`.
struct Part {
  ARITH sum;
  ARITH lost;
};

Part join(uint how, Part a, Part b) {
  ARITH lost = a.lost + b.lost;
  if (compensates(how)) {
    const ARITH sum = addExactly(a.sum, b.sum, lost);
    return Part(sum, lost);
  }
  return Part(combine(how, a.sum, b.sum), lost);
}
ARITH difference(Part part) { return part.sum - part.lost; }

/// The result of `folded` elements.
ARITH finish(uint how, ARITH sum, ARITH shift, uint folded) {
#if IS_FLOAT
  if (how == kMean) return sum / ARITH(folded) / shift;
  if (how == kL2) return sqrt(sum) / shift;
  if (how == kLogSum) return mathLog(sum) - mathLog(shift);
  if (how == kLogSumExp) return isInf(shift) ? shift : shift + mathLog(sum);
#endif
#if !IS_FLOAT
  if (how == kMean) return folded == 0 ? ARITH(0) : sum / ARITH(folded);
#endif
  return sum;
}

#endif
