// QuantizationRange: one invocation. Driven by ops/dynamic_quantize/dynamic_quantize_vulkan.cpp.
#version 450
#include "extensions.glsl"
#include "rounded.glsl"

layout(local_size_x = 1) in;

layout(binding = 0) readonly buffer Least { float least[]; };
layout(binding = 1) readonly buffer Greatest { float greatest[]; };
layout(binding = 2) writeonly buffer Scale { float scale[]; };
layout(binding = 3) writeonly buffer ZeroPoint { uint8_t zeroPoint[]; };

const uint kSign = 0x80000000u, kOne = 0x3F800000u, k255 = 0x437F0000u;

bool isNaN(uint bits) { return (bits & ~kSign) > kInfinityBits; }

void main() {
  uint low = floatBitsToUint(least[0]), high = floatBitsToUint(greatest[0]);
  if (!isNaN(low) && (low & kSign) == 0u) low = 0u;
  if (!isNaN(high) && (high & kSign) != 0u) high = 0u;
  if (isNaN(low)) high = low;
  const bool isEmpty = ((low | high) & ~kSign) == 0u;
  const uint range = floatBitsToUint(uintBitsToFloat(high) - uintBitsToFloat(low));
  const uint made = isEmpty ? kOne : isNaN(high) ? kNaNBits : quotientBits(range, k255);
  scale[0] = uintBitsToFloat(made);
  zeroPoint[0] = uint8_t(uint(wholeWithin(quotientBits(low ^ kSign, made), 0, 0, 255)));
}
