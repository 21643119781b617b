// Pairs of elements of each head, turned by the angle of their token. An invocation computes a pair, or copies one of
// the elements that stay. Driven by ops/rotary_embedding/rotary_embedding_vulkan.cpp.
//! variant STORAGE: f32 f16
#version 450
#include "common.glsl"
#include "storage.glsl"

layout(local_size_x = 64) in;
layout(constant_id = 0) const bool interleaved = false;
layout(constant_id = 1) const bool isPacked = false;  // [batch, tokens, heads, size], else [batch, heads, tokens, size]

layout(binding = 0) readonly buffer X { STORAGE x[]; };
layout(binding = 1) readonly buffer Cosines { STORAGE cosines[]; };
layout(binding = 2) readonly buffer Sines { STORAGE sines[]; };
layout(binding = 3) writeonly buffer Y { STORAGE y[]; };

layout(push_constant) uniform Push {
  uint count;
  uint each;  // invocations of a row
  uint pairs;
  uint size;
  uint heads;
  uint tokens;
} push;

void main() {
  const uint i = linearIndex();
  if (i >= push.count) return;
  const uint row = i / push.each, item = i % push.each, first = row * push.size;
  if (item >= push.pairs) {
    const uint at = first + item + push.pairs;
    STORE(y, at, LOAD(x, at));
    return;
  }
  const uint token = isPacked ? row / push.heads : row / (push.heads * push.tokens) * push.tokens + row % push.tokens;
  const uint angle = token * push.pairs + item;
  const uint at = first + (interleaved ? 2u * item : item), other = at + (interleaved ? 1u : push.pairs);
  const float cosine = LOAD(cosines, angle), sine = LOAD(sines, angle);
  const float a = LOAD(x, at), b = LOAD(x, other);
  STORE(y, at, cosine * a - sine * b);
  STORE(y, other, sine * a + cosine * b);
}
