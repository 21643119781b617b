// Position of the largest or smallest of `extent` elements with stride `inner`. A team per row. The first NaN beats
// everything (the last one with `last`). Positions are int64, written as two words. Few long rows are searched in parts,
// which a second dispatch joins. Driven by ops/arg_reduce/arg_reduce_vulkan.cpp.
//! variant STORAGE: f32 f16 f64 i8 u8 i16 u16 i32 u32 i64 u64
#version 450
#include "storage.glsl"
#include "rows.glsl"

layout(constant_id = 3) const uint keepsRows = 0;  // in shared memory
layout(constant_id = 4) const uint stage = 0;      // kWhole, kParts or kJoin

layout(binding = 0) readonly buffer X { STORAGE x[]; };
layout(binding = 1) writeonly buffer Y { uvec2 y[]; };
layout(binding = 2) buffer PartValues { ARITH partValues[]; };  // [parts, rows]
layout(binding = 3) buffer PartPlaces { uint partPlaces[]; };

layout(push_constant) uniform Push {
  uint rows;
  uint extent;
  uint inner;
  uint smallest;
  uint last;
  uint parts;
  uint partLength;
} push;

const uint kWhole = 0, kParts = 1, kJoin = 2;

#ifdef STORAGE_F64
#include "double.glsl"
#endif
#if defined(STORAGE_F32) || defined(STORAGE_F16) || defined(STORAGE_F64)
bool isNotANumber(ARITH value) { return isNan(value); }
#else
bool isNotANumber(ARITH value) { return false; }
#endif

const uint kNowhere = 0xFFFFFFFFu;

struct Found {
  ARITH value;
  uint index;  // kNowhere: an invocation without elements
};

Found better(Found a, Found b) {
  if (b.index == kNowhere) return a;
  if (a.index == kNowhere) return b;
  const bool aNan = isNotANumber(a.value), bNan = isNotANumber(b.value);
  if (aNan != bNan) return aNan ? a : b;
  if (!aNan && a.value != b.value) return (a.value < b.value) == (push.smallest != 0) ? a : b;
  return (a.index < b.index) == (push.last == 0) ? a : b;
}

KEEP_ROWS(ARITH, x)
TEAM_FOLD(teamBest, Found, better)

/// This invocation's best of its part of a row; team `index` has part index / rows of row index % rows.
Found bestOfPart(uint index) {
  const uint inner = push.inner;
  uint row = index, first = 0u, extent = index < push.rows ? push.extent : 0u;
  if (stage == kParts) {
    row = index % push.rows;
    first = index / push.rows * push.partLength;
    extent = first < push.extent ? min(push.extent - first, push.partLength) : 0u;
  }
  const uint base = row / inner * push.extent * inner + row % inner;
  Found best = Found(ARITH(0), kNowhere);
  EACH_OF_ROW(i, extent)
    best = better(best, Found(LOAD(x, base + (first + i) * inner), first + i));
  END_OF_ROW
  return best;
}

Found bestOfParts(uint row) {
  const uint parts = row < push.rows ? push.parts : 0u;
  Found best = Found(ARITH(0), kNowhere);
  EACH_OF_ROW(i, parts)
    best = better(best, Found(partValues[i * push.rows + row], partPlaces[i * push.rows + row]));
  END_OF_ROW
  return best;
}

void main() {
  uint index = teamRow();
  Found best = Found(ARITH(0), kNowhere);
  if (keepsRows != 0u) {
    const Row row = keepRows(push.rows, push.extent, push.inner);
    index = row.index;
    EACH_OF_ROW(i, row.extent) best = better(best, Found(rowIn(row, i), i)); END_OF_ROW
  } else if (stage == kJoin) {
    best = bestOfParts(index);
  } else {
    best = bestOfPart(index);
  }
  best = teamBest(best);
  if (teamLane() != 0u) return;
  if (stage == kParts) {
    if (index >= push.rows * push.parts) return;
    partValues[index] = best.value;
    partPlaces[index] = best.index;
  } else if (index < push.rows) {
    y[index] = uvec2(best.index, 0u);
  }
}
