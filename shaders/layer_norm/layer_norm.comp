// Rows of `extent` elements brought to mean 0 and variance 1, scaled and shifted; LayerNormalization and
// InstanceNormalization. One invocation per row; two passes for the statistics (a one-pass variance cancels when the
// mean is large), one to write. Driven by ops/layer_norm/layer_norm_vulkan.cpp.
//! variant STORAGE: f32 f16
#version 450
#include "common.glsl"
#include "storage.glsl"

layout(local_size_x_id = 0) in;

layout(binding = 0) readonly buffer X { STORAGE x[]; };
layout(binding = 1) readonly buffer Scale { STORAGE scale[]; };
layout(binding = 2) readonly buffer Bias { STORAGE bias[]; };
layout(binding = 3) writeonly buffer Y { STORAGE y[]; };
layout(binding = 4) writeonly buffer Mean { float mean[]; };
layout(binding = 5) writeonly buffer InverseDeviation { float inverseDeviation[]; };

layout(push_constant) uniform Push {
  uint rows;
  uint extent;
  uint channels;  // 0: scale and bias go by position; else by row modulo channels
  uint hasBias;
  uint statistics;  // bit 0: write mean; bit 1: write inverseDeviation
  float epsilon;
} push;

// Sums in eight strands, whose rounding errors grow with an eighth of the length.
const uint kStrands = 8;

float total(float strands[kStrands]) {
  return ((strands[0] + strands[1]) + (strands[2] + strands[3])) +
         ((strands[4] + strands[5]) + (strands[6] + strands[7]));
}

void main() {
  const uint row = linearIndex();
  if (row >= push.rows) return;
  const uint extent = push.extent, first = row * extent, channels = push.channels;
  const float count = float(extent);

  float strands[kStrands] = float[](0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0);
  for (uint i = 0; i < extent; i += kStrands)
    [[unroll]] for (uint s = 0; s < kStrands; ++s)
      if (i + s < extent) strands[s] += LOAD(x, first + i + s);
  const float average = total(strands) / count;

  // Where the mean dwarfs the deviation, its rounding error would show in every element. What is left of the mean
  // after it was taken away corrects it.
  float left = 0.0;
  [[unroll]] for (uint s = 0; s < kStrands; ++s) strands[s] = 0.0;
  for (uint i = 0; i < extent; i += kStrands)
    [[unroll]] for (uint s = 0; s < kStrands; ++s)
      if (i + s < extent) {
        const float centred = LOAD(x, first + i + s) - average;
        strands[s] += centred * centred;
        left += centred;
      }
  const float correction = left / count;
  const float variance = max(total(strands) / count - correction * correction, 0.0);
  const float inverse = isnan(left) ? left : 1.0 / sqrt(variance + push.epsilon);
  if ((push.statistics & 1u) != 0) mean[row] = average + correction;
  if ((push.statistics & 2u) != 0) inverseDeviation[row] = inverse;

  for (uint i = 0; i < extent; ++i) {
    const uint c = channels > 0 ? row % channels : i;
    float value = ((LOAD(x, first + i) - average) - correction) * inverse * LOAD(scale, c);
    if (push.hasBias != 0) value += LOAD(bias, c);
    STORE(y, first + i, value);
  }
}
