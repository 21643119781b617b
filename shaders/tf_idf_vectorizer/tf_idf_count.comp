// TfIdfVectorizer: counts the n-grams that begin at a token, one invocation per token, by walks down the tree of n-grams
// (ops/tf_idf_vectorizer/ngrams.h) for each distance from token to token. Driven by
// ops/tf_idf_vectorizer/tf_idf_vectorizer_vulkan.cpp.
//! variant STORAGE: i32 u32x2
#version 450
#include "common.glsl"
#include "storage.glsl"

layout(local_size_x = 64) in;

layout(binding = 0) readonly buffer X { STORAGE x[]; };            // [rows, length]
layout(binding = 1) readonly buffer Nodes { uvec4 nodes[]; };      // both words of the token, first child, first column
layout(binding = 2) readonly buffer Columns { uint columns[]; };
layout(binding = 3) buffer Counts { uint counts[]; };              // [rows, width]

layout(push_constant) uniform Push {
  uint count;
  uint rowLength;
  uint width;
  uint distances;
} push;

uvec2 tokenAt(uint i) {
#ifdef STORAGE_I32
  const int value = LOAD(x, i);
  return uvec2(uint(value), uint(value >> 31));
#else
  return LOAD(x, i);
#endif
}

bool isLess(uvec2 a, uvec2 b) { return a.y == b.y ? a.x < b.x : int(a.y) < int(b.y); }

/// The child of a node for a token; 0 if there is none.
uint childOf(uint node, uvec2 token) {
  uint low = nodes[node].z;
  const uint end = nodes[node + 1u].z;
  uint high = end;
  while (low < high) {
    const uint middle = (low + high) / 2u;
    if (isLess(nodes[middle].xy, token)) {
      low = middle + 1u;
    } else {
      high = middle;
    }
  }
  return low < end && nodes[low].xy == token ? low : 0u;
}

void add(uint node, uint row) {
  const uint end = nodes[node + 1u].w;
  for (uint i = nodes[node].w; i < end; ++i) atomicAdd(counts[row * push.width + columns[i]], 1u);
}

void main() {
  const uint i = linearIndex();
  if (i >= push.count) return;
  const uint row = i / push.rowLength, end = (row + 1u) * push.rowLength;
  const uint first = childOf(0u, tokenAt(i));
  if (first == 0u) return;
  add(first, row);
  for (uint distance = 1u; distance <= push.distances && i + distance < end; ++distance) {
    uint node = first;
    for (uint at = i + distance; at < end && node != 0u; at += distance) {
      node = childOf(node, tokenAt(at));
      add(node, row);  // the root has no columns
    }
  }
}
