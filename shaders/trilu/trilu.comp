// Keeps the triangle of each matrix above (`upper`) or below a diagonal, zero elsewhere. Moves words of the elements'
// size. k is an int64 read as two words. One invocation per element. Driven by ops/trilu/trilu_vulkan.cpp.
//! variant WORD: u8 u16 u32 u32x2
#version 450
#include "common.glsl"
#include "storage.glsl"

layout(local_size_x = 64) in;
layout(constant_id = 0) const bool upper = true;
layout(constant_id = 1) const bool hasDiagonal = true;

layout(binding = 0) readonly buffer X { WORD_TYPE x[]; };
layout(binding = 1) readonly buffer K { int k[]; };  // low word, high word
layout(binding = 2) writeonly buffer Y { WORD_TYPE y[]; };

layout(push_constant) uniform Push {
  uint count;
  uint rows;
  uint columns;
} push;

int diagonal() { return hasDiagonal ? saturated(k[0], k[1]) : 0; }

void main() {
  const uint i = linearIndex();
  if (i >= push.count) return;
  const int column = int(i % push.columns);
  const int row = int(i / push.columns % push.rows);
  const int first = row + diagonal();
  const bool keeps = upper ? column >= first : column <= first;
  if (keeps) {
    WORD_STORE(y, i, WORD_LOAD(x, i));
  } else {
    y[i] = WORD_TYPE(0);
  }
}
