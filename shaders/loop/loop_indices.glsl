// How far the data at element `at` of the indices moves an iteration: the sum over the terms, of which the table has one
// texel each behind its dimensions: (offset, extent, stride). 64-bit indices are read as two words. A negative index
// counts from the end; one that is out of range is clamped, so that nothing outside of a buffer is touched, and reported:
// `bad` keeps, per term, the largest that is too large and the smallest that is too small. The shader declares `table`,
// `indices`, `bad`, push.indexWords and the specialisation constants `rank` and, of at most 6, `terms`.

int indexAt(uint k) {
  const int low = indices[k * push.indexWords];
  if (push.indexWords == 1) return low;
  const int high = indices[k * push.indexWords + 1];
  return high == low >> 31 ? low : high < 0 ? int(0x80000000) : 0x7FFFFFFF;
}

int movedBy(int at) {
  int moved = 0;
  [[unroll]] for (uint t = 0; t < 6; ++t) {
    if (t >= terms) break;
    const ivec4 term = ivec4(texelFetch(table, int(rank + t)));
    const int given = indexAt(uint(at + term.x));
    if (given >= term.y) atomicMax(bad[2 * t], given);
    if (given < -term.y) atomicMin(bad[2 * t + 1], given);
    const int value = given < 0 ? given + term.y : given;
    moved += clamp(value, 0, term.y - 1) * term.z;
  }
  return moved;
}
