// One step of Sum and Mean: adds an operand, broadcast, to a float accumulator; the last step writes the result.
// One invocation per output element. Driven by ops/variadic/variadic_vulkan.cpp.
//! variant STORAGE: f32 f16
#version 450
#include "common.glsl"
#include "storage.glsl"

layout(local_size_x = 64) in;
layout(constant_id = 0) const uint loops = 1;
layout(constant_id = 1) const bool first = false;
layout(constant_id = 2) const bool last = false;

layout(binding = 0) readonly buffer X { STORAGE x[]; };
layout(binding = 1) buffer Sum { float sum[]; };
layout(binding = 2) writeonly buffer Y { STORAGE y[]; };

layout(push_constant) uniform Push {
  uint count;
  float divisor;
  uint sizes[6];  // outermost first; the first `loops` count
  uint strides[6];
} push;

void main() {
  const uint i = linearIndex();
  if (i >= push.count) return;
  uint at = 0, rest = i;
  [[unroll]] for (uint k = 0; k < 6; ++k) {
    if (k >= loops) break;
    const uint d = loops - 1 - k;
    at += (d > 0 ? rest % push.sizes[d] : rest) * push.strides[d];
    if (d > 0) rest /= push.sizes[d];
  }
  float total = LOAD(x, at);
  if (!first) total += sum[i];
  if (last) STORE(y, i, total / push.divisor);
  else sum[i] = total;
}
