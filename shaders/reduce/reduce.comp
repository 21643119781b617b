// One reduction of ops/reduce/reduce_table.h; `function` selects it. The input is two nests of loops: one over the
// outputs, one over the elements folded into each, which a team walks as a row. Float sums are compensated (Kahan), so
// that their error does not grow with the number of elements; the compensation goes through the team's fold too. If a
// sum overflows but its mean, root or logarithm does not, it is repeated on scaled elements. Driven by
// ops/reduce/reduce_vulkan.cpp.
//! variant STORAGE: f32 f16 i8 u8 i16 u16 i32 u32 i64 u64
#version 450
#include "storage.glsl"
#include "rows.glsl"

layout(constant_id = 3) const uint function = 0;
layout(constant_id = 4) const uint keptLoops = 1;
layout(constant_id = 5) const uint reducedLoops = 1;

layout(binding = 0) readonly buffer X { STORAGE x[]; };
layout(binding = 1) writeonly buffer Y { STORAGE y[]; };

layout(push_constant) uniform Push {
  uint outputs;
  uint folded;  // elements per output
  uint keptSizes[4];  // outermost first; the first `keptLoops` count
  uint keptStrides[4];
  uint reducedSizes[4];
  uint reducedStrides[4];
} push;

const uint kSum = 0, kMean = 1, kMax = 2, kMin = 3, kProd = 4, kL1 = 5, kL2 = 6, kSumSquare = 7, kLogSum = 8,
           kLogSumExp = 9;

#if defined(STORAGE_F32) || defined(STORAGE_F16)
#define IS_FLOAT 1
#else
#define IS_FLOAT 0
#endif

uint keptOffset(uint index) {
  uint offset = 0, rest = index;
  [[unroll]] for (uint i = 0; i < 4; ++i) {
    if (i >= keptLoops) break;
    const uint d = keptLoops - 1 - i;
    offset += (d > 0 ? rest % push.keptSizes[d] : rest) * push.keptStrides[d];
    if (d > 0) rest /= push.keptSizes[d];
  }
  return offset;
}

uint reducedOffset(uint index) {
  uint offset = 0, rest = index;
  [[unroll]] for (uint i = 0; i < 4; ++i) {
    if (i >= reducedLoops) break;
    const uint d = reducedLoops - 1 - i;
    offset += (d > 0 ? rest % push.reducedSizes[d] : rest) * push.reducedStrides[d];
    if (d > 0) rest /= push.reducedSizes[d];
  }
  return offset;
}

#if IS_FLOAT
bool isNotANumber(float value) { return isNan(value); }
#else
bool isNotANumber(ARITH value) { return false; }
#endif

#if IS_FLOAT
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

/// The neutral element.
ARITH start(uint how, ARITH first) {
#if IS_FLOAT
  if (how == kMax) return -kInfinity;
  if (how == kMin) return kInfinity;
#else
  if (how == kMax || how == kMin) return first;
#endif
  return how == kProd ? ARITH(1) : ARITH(0);
}

/// True if sums of `how` carry a compensation.
bool compensates(uint how) { return IS_FLOAT == 1 && how != kMax && how != kMin && how != kProd; }

/// a + b, adding the rounding error to `lost`: the exact sum is the result minus `lost`.
ARITH addExactly(ARITH a, ARITH b, inout ARITH lost) {
  precise ARITH sum = a + b;
#if IS_FLOAT
  precise float partOfB = sum - a;
  precise float error = (a - (sum - partOfB)) + (b - partOfB);
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
Part joinParts(Part a, Part b) { return join(function, a, b); }

TEAM_FOLD(teamLargest, ARITH, larger)
TEAM_FOLD(teamJoin, Part, joinParts)

/// This invocation's elements of the output whose elements begin at `base`.
Part foldOwn(uint how, uint base, uint extent, ARITH shift) {
  Part part = Part(start(how, extent > 0 ? LOAD(x, base) : ARITH(0)), ARITH(0));
  EACH_OF_ROW(i, extent) part = join(how, part, Part(term(how, LOAD(x, base + reducedOffset(i)), shift), ARITH(0)));
  END_OF_ROW
  return part;
}

ARITH finish(ARITH sum, ARITH shift) {
#if IS_FLOAT
  if (function == kMean) return sum / float(push.folded) / shift;
  if (function == kL2) return sqrt(sum) / shift;
  if (function == kLogSum) return mathLog(sum) - mathLog(shift);
  if (function == kLogSumExp) return isInf(shift) ? shift : shift + mathLog(sum);
#endif
#if !IS_FLOAT
  if (function == kMean) return push.folded == 0 ? ARITH(0) : sum / ARITH(push.folded);
#endif
  return sum;
}

void main() {
  const uint index = teamRow();
  const uint extent = index < push.outputs ? push.folded : 0u;
  const uint base = extent > 0u ? keptOffset(index) : 0u;
  ARITH shift = ARITH(1);
  if (function == kLogSumExp) shift = teamLargest(foldOwn(kMax, base, extent, ARITH(0)).sum);
  ARITH sum = difference(teamJoin(foldOwn(function, base, extent, shift)));
#if IS_FLOAT
  if (isRescaled(function)) {
    shift = rescale(function, sum);  // the same for a whole team; other teams of the group may need it
    const Part again = teamJoin(foldOwn(function, base, shift != 1.0 ? extent : 0u, shift));
    if (shift != 1.0) sum = difference(again);
  }
#endif
  if (index < push.outputs && teamLane() == 0u) STORE(y, index, finish(sum, shift));
}
