// One reduction of ops/reduce/reduce_table.h; `function` selects it. The input is two nests of loops: one over the
// outputs, one over the elements folded into each. With `team` 1 an invocation folds an output on its own; with
// `team` 64 a work group does, each invocation taking every 64th element. Float sums are compensated (Kahan), so
// that their error does not grow with the number of elements; the compensation goes through the team's tree, too.
// Where a sum overflows that a mean, a root or a logarithm is taken of, it is made again of scaled elements.
// Driven by ops/reduce/reduce_vulkan.cpp.
//! variant STORAGE: f32 f16 i8 u8 i16 u16 i32 u32 i64 u64
#version 450
#include "common.glsl"
#include "math.glsl"
#include "storage.glsl"

layout(local_size_x = 64) in;
layout(constant_id = 0) const uint function = 0;
layout(constant_id = 1) const uint team = 1;
layout(constant_id = 2) const uint keptLoops = 1;
layout(constant_id = 3) const uint reducedLoops = 1;

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

shared ARITH partial[64];
shared ARITH partialLost[64];

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
/// Folds whose sum may overflow, or vanish, though their result does not. Their `shift` is what elements are multiplied
/// by: 1, or the power of two that rescale() gives.
bool isRescaled(uint how) { return how == kMean || how == kL2 || how == kLogSum; }
/// The factor with which `sum` must be made again; 1 when it may stay. The sum of 2^32 scaled elements, or squares of
/// them, is a float, and the squares of the smallest elements are no denormals.
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

/// What element `value` contributes. `shift` is the largest element for LogSumExp; see isRescaled for the others.
ARITH term(uint how, ARITH value, ARITH shift) {
  if (how == kL1) return value < ARITH(0) ? -value : value;
#if IS_FLOAT
  if (how == kLogSumExp) return mathExp(value - shift);
  if (isRescaled(how)) value *= shift;
#endif
  if (how == kL2 || how == kSumSquare) return value * value;
  return value;
}

/// The value that changes nothing.
ARITH start(uint how, ARITH first) {
#if IS_FLOAT
  if (how == kMax) return -kInfinity;
  if (how == kMin) return kInfinity;
#else
  if (how == kMax || how == kMin) return first;
#endif
  return how == kProd ? ARITH(1) : ARITH(0);
}

/// Whether sums of `how` carry a compensation.
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

/// Folds the elements first, first + step, ... of the output whose elements begin at `base`.
ARITH foldSome(uint how, uint base, uint first, uint step, ARITH shift, out ARITH lost) {
  const uint folded = push.folded;
  lost = ARITH(0);
  ARITH sum = start(how, folded > 0 ? LOAD(x, base) : ARITH(0));
  for (uint i = first; i < folded; i += step) {
    const ARITH added = term(how, LOAD(x, base + reducedOffset(i)), shift);
    if (compensates(how)) sum = addExactly(sum, added, lost);
    else sum = combine(how, sum, added);
  }
  return sum;
}

/// The fold of the whole output; with a team every invocation gets it.
ARITH fold(uint how, uint base, ARITH shift) {
  ARITH lost;
  if (team == 1) {
    const ARITH sum = foldSome(how, base, 0, 1, shift, lost);
    return sum - lost;
  }
  const uint lane = gl_LocalInvocationIndex;
  barrier();  // the previous fold's partials were read
  partial[lane] = foldSome(how, base, lane, team, shift, lost);
  partialLost[lane] = lost;
  barrier();
  for (uint half_ = team / 2; half_ > 0; half_ /= 2) {
    if (lane < half_) {
      lost = partialLost[lane] + partialLost[lane + half_];
      if (compensates(how)) partial[lane] = addExactly(partial[lane], partial[lane + half_], lost);
      else partial[lane] = combine(how, partial[lane], partial[lane + half_]);
      partialLost[lane] = lost;
    }
    barrier();
  }
  return partial[0] - partialLost[0];
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
  const uint group = (gl_WorkGroupID.z * gl_NumWorkGroups.y + gl_WorkGroupID.y) * gl_NumWorkGroups.x + gl_WorkGroupID.x;
  const uint index = team == 1 ? linearIndex() : group;
  if (index >= push.outputs) return;
  const uint base = keptOffset(index);
  ARITH shift = ARITH(1);
  if (function == kLogSumExp) shift = fold(kMax, base, ARITH(0));
  ARITH sum = fold(function, base, shift);
#if IS_FLOAT
  if (isRescaled(function)) {
    shift = rescale(function, sum);  // the same for a whole team
    if (shift != 1.0) sum = fold(function, base, shift);
  }
#endif
  const ARITH value = finish(sum, shift);
  if (team == 1 || gl_LocalInvocationIndex == 0) STORE(y, index, value);
}
