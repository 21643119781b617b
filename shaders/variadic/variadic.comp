// One step of Sum and Mean: adds an operand, broadcast, to a float accumulator; the last step writes the result. A mean
// keeps the sums of huge elements (mean.glsl) after the others. One invocation per output element. Driven by
// ops/variadic/variadic_vulkan.cpp.
//! variant STORAGE: f32 f16
#version 450
#include "common.glsl"
#include "storage.glsl"
#include "mean.glsl"

layout(local_size_x = 64) in;
layout(constant_id = 0) const uint loops = 1;
layout(constant_id = 1) const bool first = false;
layout(constant_id = 2) const bool last = false;
layout(constant_id = 3) const bool mean = false;

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
  float total = first ? -0.0 : sum[i];  // -0 + x is x
  if (!mean) {
    total += LOAD(x, at);
    if (last) STORE(y, i, total);
    else sum[i] = total;
    return;
  }
  float hugeSum = first ? 0.0 : sum[push.count + i];
  addToMean(LOAD(x, at), total, hugeSum);
  if (last) {
    STORE(y, i, meanOf(total, hugeSum, push.divisor));
  } else {
    sum[i] = total;
    sum[push.count + i] = hugeSum;
  }
}
