// y = (x - mean) / sqrt(variance + epsilon) * scale + bias per channel. One invocation per element.
// Driven by ops/batch_norm/batch_norm_vulkan.cpp.
//! variant STORAGE: f32 f16
//! variant AFFINE: f32 f16
//! variant STATISTIC: f32 f16
#version 450
#include "common.glsl"
#include "storage.glsl"

layout(local_size_x = 64) in;

layout(binding = 0) readonly buffer X { STORAGE x[]; };
layout(binding = 1) readonly buffer Scale { AFFINE_TYPE scale[]; };
layout(binding = 2) readonly buffer Bias { AFFINE_TYPE bias[]; };
layout(binding = 3) readonly buffer Mean { STATISTIC_TYPE mean[]; };
layout(binding = 4) readonly buffer Variance { STATISTIC_TYPE variance[]; };
layout(binding = 5) writeonly buffer Y { STORAGE y[]; };

layout(push_constant) uniform Push {
  uint count;
  uint channels;
  uint inner;  // elements of one channel of one image
  float epsilon;
} push;

void main() {
  const uint i = linearIndex();
  if (i >= push.count) return;
  const uint c = i / push.inner % push.channels;
  const float factor = AFFINE_LOAD(scale, c) / sqrt(STATISTIC_LOAD(variance, c) + push.epsilon);
  STORE(y, i, (LOAD(x, i) - STATISTIC_LOAD(mean, c)) * factor + AFFINE_LOAD(bias, c));
}
