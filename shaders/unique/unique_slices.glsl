// Slices of x, a tensor [outer, slices, inner], in the order of Unique: element by element, in ranks (top_k_rank.glsl). The
// shader declares the buffer x, the constant kind, and push.slices, push.elements (of a slice) and push.inner.
#include "shaders/top_k/top_k_rank.glsl"

RANK rankIn(uint slice, uint element) {
  const uint outer = element / push.inner, rest = element % push.inner;
  return rankOf(WORD_LOAD(x, (outer * push.slices + slice) * push.inner + rest));
}

/// The first element in which two slices differ, or as many as a slice has.
uint differenceOf(uint a, uint b) {
  for (uint element = 0u; element < push.elements; ++element)
    if (rankIn(a, element) != rankIn(b, element)) return element;
  return push.elements;
}
