// Each output takes the input element that a table names along each axis, or a fixed value where it names none. Moves
// words of the elements' size. An invocation gives a column of outputs. Driven by ops/resize/resize_vulkan.cpp.
//! variant WORD: u8 u16 u32 u32x2
#version 450
#include "common.glsl"
#include "storage.glsl"

layout(constant_id = 0) const uint firstAxis = 0;  // axes before it have extent 1; at most 4
layout(constant_id = 1) const uint rowsEach = 1;
layout(local_size_x = 64) in;

layout(binding = 0) readonly buffer X { WORD_TYPE x[]; };
layout(binding = 1) readonly buffer Table { uint table[]; };
layout(binding = 2) writeonly buffer Y { WORD_TYPE y[]; };

#include "resample_places.glsl"

void main() {
  const uint i = linearIndex();
  if (i >= push.count) return;
  const Place place = placeOf(i);
#ifdef WORD_U32X2
  const WORD_ARITH outside = uvec2(push.outside[0], push.outside[1]);
#else
  const WORD_ARITH outside = WORD_ARITH(push.outside[0]);
#endif
  uint block = place.outer;
  if (place.inside)
    for (uint d = firstAxis; d < kRow; ++d) block = block * push.inputs[d] + positionOf(d, 0u, place.spot[d]);
  const uint column = positionOf(kColumn, 0u, place.column);
  uint held = kOutside;  // the row of which `value` is
  WORD_ARITH value = outside;
  for (uint r = 0u; r < rowsEach; ++r) {
    const uint row = place.firstRow + r;
    if (row >= push.outputs[kRow]) break;
    const uint from = place.inside ? positionOf(kRow, 0u, row) : kOutside;
    if (from != held) {
      value = outside;
      if (from != kOutside)
        value = WORD_LOAD(x, ((block * push.inputs[kRow] + from) * push.inputs[kColumn] + column) * push.inner + place.inner);
      held = from;
    }
    WORD_STORE(y, outputAt(place, row), value);
  }
}
