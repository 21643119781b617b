// Random numbers: offset + factor * number, where numbers are uniform in [0, 1) or normal. An invocation computes the four numbers
// of a block. Driven by ops/random/random_vulkan.cpp.
//! variant STORAGE: f32 f16
//! variant WIDTH: 4
#version 450
#include "elementwise.glsl"
#include "math.glsl"
#include "philox.glsl"

layout(constant_id = 0) const bool isNormal = false;

ELEMENTS_OUT(0, Y, y, STORAGE)

layout(push_constant) uniform Push {
  uint count;
  uint keyLow;
  uint keyHigh;
  float offset;
  float factor;
} push;

/// Box and Muller: a radius from one word, an angle from the other, whose nearest quarter turn is taken off exactly.
vec2 normalPair(uint radiusWord, uint angleWord) {
  const float radius = sqrt(-2.0 * mathLog(float((radiusWord >> 8) + 1u) * 5.9604644775390625e-8));
  const uint turn = angleWord >> 8, quarter = (turn + 0x200000u) >> 22;
  const float angle = float(int(turn) - int(quarter << 22)) * 3.745070282923929e-7;  // pi / 2 * 2^-22
  return radius * vec2(mathSine(angle, quarter + 1u), mathSine(angle, quarter));
}

vec4 numbersOf(uvec4 words) {
  if (isNormal) return vec4(normalPair(words.x, words.y), normalPair(words.z, words.w));
  return vec4(numberOf(words.x), numberOf(words.y), numberOf(words.z), numberOf(words.w));
}

void main() {
  const uint block = linearIndex(), first = block * 4u;
  if (first >= push.count) return;
  const vec4 numbers = numbersOf(philoxBlock(block, uvec2(push.keyLow, push.keyHigh)));
  precise vec4 products = push.factor * numbers;
  precise vec4 values = push.offset + products;
  if (push.count - first >= 4u) {
    STORAGE_STORE4(y, first, values);
    return;
  }
  for (uint i = first; i < push.count; ++i) {
    STORE(y, i, values.x);
    values = values.yzwx;
  }
}
