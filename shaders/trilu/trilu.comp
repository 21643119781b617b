// Keeps the triangle of each matrix above (`upper`) or below a diagonal, zero elsewhere. Moves words of the elements'
// size. k is an int64 read as two words. Words of 8 bytes are wide enough
// without vectors. Driven by ops/trilu/trilu_vulkan.cpp.
//! variant WORD: u8 u16 u32 u32x2
//! variant WIDTH: 1 4
#version 450
#include "elementwise.glsl"

layout(constant_id = 0) const bool upper = true;
layout(constant_id = 1) const bool hasDiagonal = true;

#ifdef WORD_U32X2
layout(binding = 0) readonly buffer X { WORD_TYPE x[]; };
layout(binding = 2) writeonly buffer Y { WORD_TYPE y[]; };
#else
ELEMENTS_IN(0, X, x, WORD)
ELEMENTS_OUT(2, Y, y, WORD)
#endif
layout(binding = 1) readonly buffer K { int k[]; };  // low word, high word

layout(push_constant) uniform Push {
  uint count;
  uint rows;
  uint columns;
} push;

int diagonal() { return hasDiagonal ? saturated(k[0], k[1]) : 0; }

bool keeps(int row, int column) {
  const int first = row + diagonal();
  return upper ? column >= first : column <= first;
}

void main() {
  FOURS(i, push.count)
#ifndef WORD_U32X2
    int column = int(i % push.columns), row = int(i / push.columns % push.rows);
    bvec4 kept = bvec4(false);
    EACH_OF_FOUR {
      kept = bvec4(kept.yzw, keeps(row, column));
      if (++column == int(push.columns)) {
        column = 0;
        row = row + 1 == int(push.rows) ? 0 : row + 1;
      }
    }
    WORD_STORE4(y, i, mix(WORD_ARITH4(0), WORD_LOAD4(x, i), kept));
#endif
  ONES(i, push.count)
    if (keeps(int(i / push.columns % push.rows), int(i % push.columns))) {
      WORD_STORE(y, i, WORD_LOAD(x, i));
    } else {
      y[i] = WORD_TYPE(0);
    }
  END_OF_ONES(i, push.count)
}
