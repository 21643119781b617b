// Position of the largest or smallest of `extent` elements with stride `inner`. A team per row. The first NaN beats
// everything (the last one with `last`). Positions are int64, written as two words. Driven by
// ops/arg_reduce/arg_reduce_vulkan.cpp.
//! variant STORAGE: f32 f16 i8 u8 i16 u16 i32 u32 i64 u64
#version 450
#include "storage.glsl"
#include "rows.glsl"

layout(binding = 0) readonly buffer X { STORAGE x[]; };
layout(binding = 1) writeonly buffer Y { uvec2 y[]; };

layout(push_constant) uniform Push {
  uint rows;
  uint extent;
  uint inner;
  uint smallest;
  uint last;
} push;

#if defined(STORAGE_F32) || defined(STORAGE_F16)
bool isNotANumber(float value) { return isNan(value); }
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

TEAM_FOLD(teamBest, Found, better)

void main() {
  const uint row = teamRow(), inner = push.inner;
  const uint extent = row < push.rows ? push.extent : 0u;
  const uint first = row / inner * extent * inner + row % inner;
  Found best = Found(ARITH(0), kNowhere);
  EACH_OF_ROW(i, extent) best = better(best, Found(LOAD(x, first + i * inner), i)); END_OF_ROW
  best = teamBest(best);
  if (row < push.rows && teamLane() == 0u) y[row] = uvec2(best.index, 0u);
}
