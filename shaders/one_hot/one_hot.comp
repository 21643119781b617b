// OneHot: each element of y, [outer, depth, inner], is values[1] where its coordinate is the class of the index, else
// values[0]. Moves words of the elements' size; words of 8 bytes are wide enough without vectors. Driven by
// ops/one_hot/one_hot_vulkan.cpp.
//! variant WORD: u8 u16 u32 u32x2
//! variant WIDTH: 1 4
#version 450
#include "elementwise.glsl"

layout(binding = 0) readonly buffer Classes { int classes[]; };  // [outer, inner]
layout(binding = 1) readonly buffer Values { WORD_TYPE values[]; };
#ifdef WORD_U32X2
layout(binding = 2) writeonly buffer Y { WORD_TYPE y[]; };
#else
ELEMENTS_OUT(2, Y, y, WORD)
#endif

layout(push_constant) uniform Push {
  uint count;
  uint depth;
  uint inner;
} push;

struct Place {
  uint outer, chosen, column;
};
Place placeOf(uint i) { return Place(i / push.inner / push.depth, i / push.inner % push.depth, i % push.inner); }
#if WIDTH == 4
void advance(inout Place place) {
  if (++place.column < push.inner) return;
  place.column = 0u;
  if (++place.chosen < push.depth) return;
  place.chosen = 0u;
  ++place.outer;
}
#endif
bool isOn(Place place) { return classes[place.outer * push.inner + place.column] == int(place.chosen); }

void main() {
  FOURS(i, push.count)
#if WIDTH == 4 && !defined(WORD_U32X2)
    Place place = placeOf(i);
    bvec4 on = bvec4(false);
    [[unroll]] for (uint step = 0u; step < 4u; ++step) {
      on = bvec4(on.yzw, isOn(place));
      if (step < 3u) advance(place);
    }
    WORD_STORE4(y, i, mix(WORD_ARITH4(WORD_LOAD(values, 0)), WORD_ARITH4(WORD_LOAD(values, 1)), on));
#endif
  ONES(i, push.count)
    if (isOn(placeOf(i))) {
      WORD_STORE(y, i, WORD_LOAD(values, 1));
    } else {
      WORD_STORE(y, i, WORD_LOAD(values, 0));
    }
  END_OF_ONES(i, push.count)
}
