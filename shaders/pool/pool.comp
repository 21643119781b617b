// The maximum or mean of each window of each plane (batch and channel), over up to three spatial axes; missing ones
// have extent and kernel 1. One invocation per output. NaN wins a maximum: comparisons keep it, but max() need not.
// Driven by ops/pool/pool_vulkan.cpp.
//! variant STORAGE: f32 f16
//! variant MODE: maximum mean
#version 450
#include "common.glsl"
#include "storage.glsl"
#include "mean.glsl"

layout(local_size_x = 64) in;

layout(binding = 0) readonly buffer X { STORAGE x[]; };
layout(binding = 1) writeonly buffer Y { STORAGE y[]; };

layout(push_constant) uniform Push {
  uint count;  // outputs
  uint countPadding;
  uint inputs[3];  // extents, outermost first
  uint outputs[3];
  uint kernel[3];
  int stride[3];
  int dilation[3];
  int padBegin[3];
  int padEnd[3];
} push;

void main() {
  const uint i = linearIndex();
  if (i >= push.count) return;
  const uint width = push.outputs[2], height = push.outputs[1], depth = push.outputs[0];
  const uint spot[3] = {i / width / height % depth, i / width % height, i % width};
  const uint plane = i / width / height / depth;
  int start[3];
  uint padded = 1;  // taps in the input or its declared padding
  for (uint d = 0; d < 3; ++d) {
    start[d] = int(spot[d]) * push.stride[d] - push.padBegin[d];
    uint taps = 0;
    for (uint k = 0; k < push.kernel[d]; ++k)
      if (start[d] + int(k) * push.dilation[d] < int(push.inputs[d]) + push.padEnd[d]) ++taps;
    padded *= taps;
  }

  uint inside = 0;
#ifdef MODE_MAXIMUM
  float result = uintBitsToFloat(0xFF800000u);  // of no elements
#else
  float result = 0.0, hugeSum = 0.0;
#endif
  for (uint kd = 0; kd < push.kernel[0]; ++kd) {
    const int z = start[0] + int(kd) * push.dilation[0];
    if (uint(z) >= push.inputs[0]) continue;
    for (uint kh = 0; kh < push.kernel[1]; ++kh) {
      const int row = start[1] + int(kh) * push.dilation[1];
      if (uint(row) >= push.inputs[1]) continue;
      const uint line = ((plane * push.inputs[0] + uint(z)) * push.inputs[1] + uint(row)) * push.inputs[2];
      for (uint kw = 0; kw < push.kernel[2]; ++kw) {
        const int column = start[2] + int(kw) * push.dilation[2];
        if (uint(column) >= push.inputs[2]) continue;
        const float value = LOAD(x, line + uint(column));
#ifdef MODE_MAXIMUM
        if (!isnan(result) && (value > result || isnan(value))) result = value;
#else
        addToMean(value, result, hugeSum);
        ++inside;
#endif
      }
    }
  }
#ifdef MODE_MEAN
  result = meanOf(result, hugeSum, float(max(push.countPadding != 0 ? padded : inside, 1u)));
#endif
  STORE(y, i, result);
}
