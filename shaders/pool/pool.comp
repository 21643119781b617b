// The maximum, mean or p-norm of each window of each plane (batch and channel), over up to three spatial axes; missing
// ones have extent and kernel 1. One invocation per output. NaN wins a maximum: comparisons keep it, but max() need not.
// Driven by ops/pool/pool_vulkan.cpp.
//! variant STORAGE: f32 f16
//! variant MODE: maximum mean norm
#version 450
#include "common.glsl"
#include "storage.glsl"
#include "mean.glsl"
#include "pool_norm.glsl"

layout(local_size_x = 64) in;

layout(binding = 0) readonly buffer X { STORAGE x[]; };
layout(binding = 1) writeonly buffer Y { STORAGE y[]; };

layout(push_constant) uniform Push {
  uint count;  // outputs
  uint countPadding;
  float power;     // of the norm
  uint inputs[3];  // extents, outermost first
  uint outputs[3];
  uint kernel[3];
  int stride[3];
  int dilation[3];
  int padBegin[3];
  int padEnd[3];
} push;

struct Window {
  float result;  // the maximum, the sum, or the sum of powers
  float hugeSum;
  float largest;  // magnitude, for norms
  uint inside;    // taps on the input
};

/// Folds the window that begins at `start`; elements of norms divided by `divisor`.
Window foldOf(uint plane, int start[3], float divisor) {
  uint inside = 0;
#ifdef MODE_MAXIMUM
  float result = uintBitsToFloat(0xFF800000u);  // of no elements
#else
  float result = 0.0;
#endif
  float hugeSum = 0.0, largest = 0.0;
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
#elif defined(MODE_MEAN)
        addToMean(value, result, hugeSum);
        ++inside;
#else
        result += powerOf(value, divisor, push.power);
        largest = max(largest, abs(value));
#endif
      }
    }
  }
  return Window(result, hugeSum, largest, inside);
}

void main() {
  const uint i = linearIndex();
  if (i >= push.count) return;
  const uint width = push.outputs[2], height = push.outputs[1], depth = push.outputs[0];
  const uint spot[3] = {i / width / height % depth, i / width % height, i % width};
  const uint plane = i / width / height / depth;
  const int start[3] = {int(spot[0]) * push.stride[0] - push.padBegin[0],
                        int(spot[1]) * push.stride[1] - push.padBegin[1],
                        int(spot[2]) * push.stride[2] - push.padBegin[2]};
  const Window window = foldOf(plane, start, 1.0);
#ifdef MODE_MAXIMUM
  const float result = window.result;
#elif defined(MODE_MEAN)
  uint padded = 1;  // taps in the input or its declared padding
  for (uint d = 0; d < 3; ++d) {
    uint taps = 0;
    for (uint k = 0; k < push.kernel[d]; ++k)
      if (start[d] + int(k) * push.dilation[d] < int(push.inputs[d]) + push.padEnd[d]) ++taps;
    padded *= taps;
  }
  const float result =
      meanOf(window.result, window.hugeSum, float(max(push.countPadding != 0 ? padded : window.inside, 1u)));
#else
  const float divisor = divisorOf(window.result, window.largest);
  float result = rootOf(window.result, push.power);
  if (divisor != 1.0) result = divisor * rootOf(foldOf(plane, start, divisor).result, push.power);
#endif
  STORE(y, i, result);
}
