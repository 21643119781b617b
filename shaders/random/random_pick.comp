// SampleRows: per sample the first class of its row whose running sum exceeds a random share of the last one, by bisection. One
// invocation per sample. Driven by ops/random/random_vulkan.cpp.
//! variant STORAGE: f32 f16
//! variant WORD: u32 u32x2
#version 450
#include "common.glsl"
#include "storage.glsl"
#include "philox.glsl"

layout(local_size_x = 64) in;

layout(binding = 0) readonly buffer Sums { STORAGE sums[]; };      // [rows, classes]
layout(binding = 1) writeonly buffer Y { WORD_TYPE y[]; };  // [rows, samples]

layout(push_constant) uniform Push {
  uint count;
  uint classes;
  uint samples;  // of a row
  uint keyLow;
  uint keyHigh;
} push;

float shareAt(uint i) {
  uvec4 words = philoxBlock(i / 4u, uvec2(push.keyLow, push.keyHigh));
  const uint at = i % 4u;
  return numberOf(at == 0u ? words.x : at == 1u ? words.y : at == 2u ? words.z : words.w);
}

void main() {
  const uint i = linearIndex();
  if (i >= push.count) return;
  const uint first = i / push.samples * push.classes;
  precise float wanted = shareAt(i) * LOAD(sums, first + push.classes - 1u);
  uint low = 0u, high = push.classes - 1u;  // the class lies in [low, high]
  while (low < high) {
    const uint middle = (low + high) / 2u;
    if (wanted < LOAD(sums, first + middle)) {
      high = middle;
    } else {
      low = middle + 1u;
    }
  }
#ifdef WORD_U32X2
  y[i] = uvec2(low, 0u);
#else
  y[i] = low;
#endif
}
