// One reduction of ops/reduce/reduce_table.h; `function` selects it. The input is two nests of loops: one over the
// outputs, one over the elements folded into each, which a team walks as a row, or several teams a part each. Float sums
// are compensated (Kahan), so that their error does not grow with the number of elements; the compensation goes through
// the team's fold too. If a sum overflows but its mean, root or logarithm does not, it is repeated on scaled elements.
// Driven by ops/reduce/reduce_vulkan.cpp.
//! variant STORAGE: f32 f16 f64 i8 u8 i16 u16 i32 u32 i64 u64
#version 450
#include "storage.glsl"
#include "rows.glsl"

layout(constant_id = 3) const uint function = 0;
layout(constant_id = 4) const uint keptLoops = 1;
layout(constant_id = 5) const uint reducedLoops = 1;
// 1: the input is [outputs / inner, folded, inner], kept in shared memory; inner is reducedStrides[0].
layout(constant_id = 6) const uint keepsRows = 0;
// 1: each output is folded in push.parts parts, which go to partSums (reduce_parts.comp).
layout(constant_id = 7) const uint splits = 0;

layout(binding = 0) readonly buffer X { STORAGE x[]; };
layout(binding = 1) writeonly buffer Y { STORAGE y[]; };
layout(binding = 2) writeonly buffer PartSums { ARITH partSums[]; };  // [3, parts, outputs]: sum, lost, shift

layout(push_constant) uniform Push {
  uint outputs;
  uint folded;  // elements per output
  uint parts;
  uint partLength;
  uint keptSizes[4];  // outermost first; the first `keptLoops` count
  uint keptStrides[4];
  uint reducedSizes[4];
  uint reducedStrides[4];
} push;

#include "reduce_fold.glsl"

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

Part joinParts(Part a, Part b) { return join(function, a, b); }

KEEP_ROWS(ARITH, x)
TEAM_FOLD(teamLargest, ARITH, larger)
TEAM_FOLD(teamJoin, Part, joinParts)

/// The elements that a team folds.
struct Fold {
  Row row;  // if rows are kept
  uint extent;
  uint base;
  uint first;
};

ARITH element(Fold fold, uint i) {
  if (keepsRows != 0u) return rowIn(fold.row, i);
  return LOAD(x, fold.base + reducedOffset(fold.first + i));
}

/// This invocation's elements, of `extent` in all.
Part foldOwn(uint how, Fold fold, uint extent, ARITH shift) {
  Part part = Part(start(how, extent > 0 ? element(fold, 0u) : ARITH(0), extent), ARITH(0));
  EACH_OF_ROW(i, extent) part = join(how, part, Part(term(how, element(fold, i), shift), ARITH(0))); END_OF_ROW
  return part;
}

/// The fold of team `index`, part index / outputs of output index % outputs.
Fold foldOf(uint index) {
  Fold fold;
  fold.first = 0u;
  fold.extent = index < push.outputs ? push.folded : 0u;
  if (splits != 0u) {
    fold.first = index / push.outputs * push.partLength;
    fold.extent = fold.first < push.folded ? min(push.folded - fold.first, push.partLength) : 0u;
    index %= push.outputs;
  }
  fold.base = fold.extent > 0u ? keptOffset(index) : 0u;
  return fold;
}

void main() {
  uint index = teamRow();
  Fold fold;
  if (keepsRows != 0u) {
    fold.row = keepRows(push.outputs, push.folded, push.reducedStrides[0]);
    fold.extent = fold.row.extent;
    index = fold.row.index;
  } else {
    fold = foldOf(index);
  }
  ARITH shift = ARITH(1);
  if (function == kLogSumExp) shift = teamLargest(foldOwn(kMax, fold, fold.extent, ARITH(0)).sum);
  Part whole = teamJoin(foldOwn(function, fold, fold.extent, shift));
#if IS_FLOAT
  if (isRescaled(function)) {
    shift = rescale(function, difference(whole));  // the same for a whole team; other teams of the group may need it
    const Part again = teamJoin(foldOwn(function, fold, shift != ARITH(1) ? fold.extent : 0u, shift));
    if (shift != ARITH(1)) whole = again;
  }
#endif
  if (teamLane() != 0u) return;
  if (splits == 0u) {
    if (index < push.outputs) STORE(y, index, finish(function, difference(whole), shift, push.folded));
    return;
  }
  const uint all = push.outputs * push.parts;
  if (index >= all) return;
  partSums[index] = whole.sum;
  partSums[all + index] = whole.lost;
  partSums[2u * all + index] = shift;
}
