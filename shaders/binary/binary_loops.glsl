// The element of each operand that an output element reads, over up to 6 merged loops (engine/op/loops.h).
// The shader declares push constants sizes[6], xStrides[6], yStrides[6] and the specialisation constant `loops`.

uvec2 operandOffsets(uint index) {
  uvec2 offsets = uvec2(0);
  uint rest = index;
  [[unroll]] for (uint i = 0; i < 6; ++i) {
    if (i >= loops) break;
    const uint d = loops - 1 - i;
    uint at = rest;
    if (d > 0) {
      at = rest % push.sizes[d];
      rest /= push.sizes[d];
    }
    offsets += at * uvec2(push.xStrides[d], push.yStrides[d]);
  }
  return offsets;
}
