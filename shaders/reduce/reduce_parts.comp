// The second stage of a reduction whose outputs were folded in parts (reduce.comp): a team per output joins them. Driven by
// ops/reduce/reduce_vulkan.cpp.
//! variant STORAGE: f32 f16 f64 i8 u8 i16 u16 i32 u32 i64 u64
#version 450
#include "storage.glsl"
#include "rows.glsl"

layout(constant_id = 3) const uint function = 0;

layout(binding = 0) readonly buffer PartSums { ARITH partSums[]; };  // [3, parts, outputs]: sum, lost, shift
layout(binding = 1) writeonly buffer Y { STORAGE y[]; };

layout(push_constant) uniform Push {
  uint outputs;
  uint parts;
  uint folded;  // elements per output
} push;

#include "reduce_fold.glsl"

Part joinParts(Part a, Part b) { return join(function, a, b); }

TEAM_FOLD(teamLargest, ARITH, larger)
TEAM_FOLD(teamJoin, Part, joinParts)

/// Part `i` of output `index`, as if its elements had been folded with `shift`.
Part partAt(uint i, uint index, ARITH shift) {
  const uint all = push.outputs * push.parts, at = i * push.outputs + index;
  const Part part = Part(partSums[at], partSums[all + at]);
#if IS_FLOAT
  const ARITH own = partSums[2u * all + at];
  if (function == kLogSumExp) {
    if (isInf(own)) return Part(ARITH(0), ARITH(0));  // -Inf, or the result is infinite
    const ARITH factor = mathExp(own - shift);
    return Part(part.sum * factor, part.lost * factor);
  }
  if (isRescaled(function) && own != shift) {
    const ARITH factor = shift / own, second = function == kL2 ? factor : ARITH(1);  // powers of two
    return Part(part.sum * factor * second, part.lost * factor * second);
  }
#endif
  return part;
}

/// This invocation's parts, of `parts` in all.
Part foldOwn(uint index, uint parts, ARITH shift) {
  Part whole = Part(start(function, parts > 0u ? partSums[index] : ARITH(0), parts), ARITH(0));
  EACH_OF_ROW(i, parts) whole = joinParts(whole, partAt(i, index, shift)); END_OF_ROW
  return whole;
}

void main() {
  const uint index = teamRow();
  const uint parts = index < push.outputs ? push.parts : 0u;
  ARITH shift = ARITH(1);
#if IS_FLOAT
  if (function == kLogSumExp) {
    const uint shifts = 2u * push.outputs * push.parts;
    ARITH largest = -kInfinite;
    EACH_OF_ROW(i, parts) largest = larger(largest, partSums[shifts + i * push.outputs + index]); END_OF_ROW
    shift = teamLargest(largest);
  }
#endif
  Part whole = teamJoin(foldOwn(index, parts, shift));
#if IS_FLOAT
  if (isRescaled(function)) {
    shift = rescale(function, difference(whole));  // the same for a whole team; other teams of the group may need it
    const Part again = teamJoin(foldOwn(index, shift != ARITH(1) ? parts : 0u, shift));
    if (shift != ARITH(1)) whole = again;
  }
#endif
  if (index < push.outputs && teamLane() == 0u)
    STORE(y, index, finish(function, difference(whole), shift, push.folded));
}
