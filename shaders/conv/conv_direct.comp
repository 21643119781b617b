// Convolution over up to three spatial axes, directly: an invocation computes kOutputs output channels of one group at one
// position, so that an element read serves several channels. The sum of each input channel's taps joins the whole sum.
// Driven by ops/conv/conv_direct_vulkan.cpp.
//! variant STORAGE: f32 f16 f64
#version 450
#include "common.glsl"
#include "storage.glsl"

layout(local_size_x = 64) in;

layout(binding = 0) readonly buffer X { STORAGE x[]; };  // [images, groups, groupInputs, planes, rows, columns]
layout(binding = 1) readonly buffer W { STORAGE w[]; };  // [groups, groupOutputs, groupInputs, taps]
layout(binding = 2) readonly buffer Bias { STORAGE bias[]; };
layout(binding = 3) writeonly buffer Y { STORAGE y[]; };

layout(push_constant) uniform Push {
  uint count;      // invocations
  uint positions;  // of the output
  uint groups;
  uint groupInputs;
  uint groupOutputs;
  uint blocks;  // of kOutputs channels, in a group
  uint hasBias;
  uint inputs[3];  // extents: planes, rows, columns
  uint outputs[3];
  uint kernel[3];
  int stride[3];
  int dilation[3];
  int padBegin[3];
  float low;  // results are clamped to [low, high]
  float high;
} push;

const uint kOutputs = 4;  // of conv_direct_vulkan.cpp

/// Adds channel `channel` of x, whose first weight is w[weight]; the weights of the next output are `distance` further.
void addChannel(inout ARITH sums[kOutputs], uint channel, ivec3 corner, uint weight, uint distance, uint mine) {
  ARITH parts[kOutputs];
  [[unroll]] for (uint j = 0; j < kOutputs; ++j) parts[j] = ARITH(0);
  const uint height = push.inputs[1], width = push.inputs[2];
  int iz = corner.z;
  for (uint kz = 0; kz < push.kernel[0]; ++kz, iz += push.dilation[0]) {
    int iy = corner.y;
    for (uint ky = 0; ky < push.kernel[1]; ++ky, iy += push.dilation[1]) {
      const bool inside = uint(iz) < push.inputs[0] && uint(iy) < height;  // as unsigned, a negative position is huge
      const uint line = ((channel * push.inputs[0] + uint(iz)) * height + uint(iy)) * width;
      int ix = corner.x;
      for (uint kx = 0; kx < push.kernel[2]; ++kx, ++weight, ix += push.dilation[2]) {
        if (!inside || uint(ix) >= width) continue;
        const ARITH value = LOAD(x, line + uint(ix));
        [[unroll]] for (uint j = 0; j < kOutputs; ++j)
          parts[j] += value * LOAD(w, weight + min(j, mine - 1u) * distance);
      }
    }
  }
  [[unroll]] for (uint j = 0; j < kOutputs; ++j) sums[j] += parts[j];
}

void main() {
  const uint i = linearIndex();
  if (i >= push.count) return;
  const uint position = i % push.positions, all = push.blocks * push.groups;
  const uint block = i / push.positions % all, image = i / push.positions / all;
  const uint group = block / push.blocks, first = block % push.blocks * kOutputs;
  const uint mine = min(push.groupOutputs - first, kOutputs);
  const uint column = position % push.outputs[2], line = position / push.outputs[2];
  const ivec3 corner = ivec3(column, line % push.outputs[1], line / push.outputs[1]) *
                           ivec3(push.stride[2], push.stride[1], push.stride[0]) -
                       ivec3(push.padBegin[2], push.padBegin[1], push.padBegin[0]);
  const uint taps = push.kernel[0] * push.kernel[1] * push.kernel[2], distance = push.groupInputs * taps;
  const uint output_ = group * push.groupOutputs + first;  // channel of one image
  const uint channel = (image * push.groups + group) * push.groupInputs;
  ARITH sums[kOutputs];
  [[unroll]] for (uint j = 0; j < kOutputs; ++j) sums[j] = ARITH(0);
  for (uint c = 0; c < push.groupInputs; ++c)
    addChannel(sums, channel + c, corner, output_ * distance + c * taps, distance, mine);
  const ARITH low = ARITH(push.low), high = ARITH(push.high);
  [[unroll]] for (uint j = 0; j < kOutputs; ++j) {
    if (j >= mine) break;
    ARITH value = sums[j];
    if (push.hasBias != 0u) value += LOAD(bias, output_ + j);
    const uint to = (image * push.groups * push.groupOutputs + output_ + j) * push.positions + position;
    STORE(y, to, value < low ? low : value > high ? high : value);  // a NaN stays
  }
}
