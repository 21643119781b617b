// y = (x - mean) / sqrt(variance + epsilon) * scale + bias per channel. One invocation makes up to kRun elements (or
// vec4s) of one channel of one image, `stride` apart, so that the channel's factors are loaded once for all of them.
// Driven by ops/batch_norm/batch_norm_vulkan.cpp.
//! variant STORAGE: f32 f16
//! variant AFFINE: f32 f16
//! variant STATISTIC: f32 f16
//! variant READ: ssbo texel
//! variant WIDTH: 1 4
#version 450
#include "elementwise.glsl"
#include "read4.glsl"

#ifdef READ_TEXEL
READ4_BUFFER(0, X, x, STORAGE4)
#else
ELEMENTS_IN(0, X, x, STORAGE)
#endif
layout(binding = 1) readonly buffer Scale { AFFINE_TYPE scale[]; };
layout(binding = 2) readonly buffer Bias { AFFINE_TYPE bias[]; };
layout(binding = 3) readonly buffer Mean { STATISTIC_TYPE mean[]; };
layout(binding = 4) readonly buffer Variance { STATISTIC_TYPE variance[]; };
ELEMENTS_OUT(5, Y, y, STORAGE)

layout(push_constant) uniform Push {
  uint count;   // invocations
  uint stride;  // invocations per channel of an image
  uint inner;   // elements, or vec4s of them, in a channel of an image
  uint channels;
  float epsilon;
} push;

void main() {
  const uint i = linearIndex();
  if (i >= push.count) return;
  const uint stride = push.stride, inner = push.inner;
  const uint plane = i / stride, c = plane % push.channels;
  const float factor = AFFINE_LOAD(scale, c) / sqrt(STATISTIC_LOAD(variance, c) + push.epsilon);
  const float center = STATISTIC_LOAD(mean, c), shift = AFFINE_LOAD(bias, c);
  for (uint k = i % stride; k < inner; k += stride) {
    const uint at = plane * inner + k;
#ifdef READ_TEXEL
    const vec4 value = (READ4(x, at) - center) * factor + shift;
    STORE(y, 4 * at, value.x);
    STORE(y, 4 * at + 1, value.y);
    STORE(y, 4 * at + 2, value.z);
    STORE(y, 4 * at + 3, value.w);
#else
    if (width == 4u)
      STORAGE_STORE4(y, 4 * at, (STORAGE_LOAD4(x, 4 * at) - center) * factor + shift);
    else
      STORE(y, at, (LOAD(x, at) - center) * factor + shift);
#endif
  }
}
