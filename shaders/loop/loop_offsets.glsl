// The offsets of iteration `item` of a loop: the sum of its indices times the steps of three views. The table has one
// texel per dimension, outermost first: (size, step of view 0, of view 1, of view 2). The shader declares the uniform
// `table` and the specialisation constant `rank`, of at most 6.

ivec3 loopOffsets(uint item) {
  ivec3 offsets = ivec3(0);
  uint rest = item;
  [[unroll]] for (uint i = 0; i < 6; ++i) {
    if (i >= rank) break;
    const uvec4 dimension = texelFetch(table, int(rank - 1 - i));
    uint index = rest;
    if (i + 1 < rank) {
      index = rest % dimension.x;
      rest /= dimension.x;
    }
    offsets += int(index) * ivec3(dimension.yzw);
  }
  return offsets;
}
