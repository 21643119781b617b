// z = condition ? x : y on operands that broadcast. Moves words of the elements' size; words of 8
// bytes are wide enough without vectors. Driven by ops/where/where_vulkan.cpp.
//! variant WORD: u8 u16 u32 u32x2
//! variant WIDTH: 1 4
#version 450
#include "broadcast.glsl"

ELEMENTS_IN(0, Condition, condition, BOOL)
#ifdef WORD_U32X2
layout(binding = 1) readonly buffer X { WORD_TYPE x[]; };
layout(binding = 2) readonly buffer Y { WORD_TYPE y[]; };
layout(binding = 3) writeonly buffer Z { WORD_TYPE z[]; };
#else
ELEMENTS_IN(1, X, x, WORD)
ELEMENTS_IN(2, Y, y, WORD)
ELEMENTS_OUT(3, Z, z, WORD)
#endif

layout(push_constant) uniform Push {
  BROADCAST_PUSH
  uint conditionStrides[6];
  uint xStrides[6];
  uint yStrides[6];
} push;

DEFINE_PLACE_OF

void main() {
  const Place place = placeOf(linearIndex());
  FOURS_FROM(place.element, i, push.count)
#ifndef WORD_U32X2
    uint conditionAt = OFFSET_OF(place, condition), xAt = OFFSET_OF(place, x), yAt = OFFSET_OF(place, y);
    BOOL_ARITH4 takesX = BOOL_ARITH4(false);
    WORD_ARITH4 a = WORD_ARITH4(0), b = a;
    for (uint row = 0; row < place.rows; ++row) {
      TAKE_FOUR(takesX, BOOL, condition, conditionAt, row)
      TAKE_FOUR(a, WORD, x, xAt, row)
      TAKE_FOUR(b, WORD, y, yAt, row)
      WORD_STORE4(z, i + row * rowDistance(), mix(b, a, takesX));
    }
#endif
  ONES(i, push.count)
    const WORD_ARITH a = WORD_LOAD(x, ELEMENT_OF(place, x, i)), b = WORD_LOAD(y, ELEMENT_OF(place, y, i));
    WORD_STORE(z, i, LOAD_BOOL(condition, ELEMENT_OF(place, condition, i)) ? a : b);
  END_OF_ONES(i, push.count)
}
