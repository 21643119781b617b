// Convolution with one input channel per group, directly: one invocation per output, no scratch. The grid is columns *
// rows * planes (images * output channels), so that weights are the same for all lanes of a group; if the grid is too
// small, groups step over the rest. w holds each channel's taps, padded to vec4s. Driven by
// ops/conv/conv_depthwise_vulkan.cpp.
//! variant STORAGE: f32 f16
//! variant READ: ssbo texel
#version 450
#include "common.glsl"
#include "storage.glsl"
#include "read4.glsl"

layout(local_size_x_id = 0) in;

// A texel device fetches the vec4 around an element and picks it: still several times faster than a scalar load.
#ifdef READ_TEXEL
READ4_BUFFER(0, X, x, STORAGE4)
#define LOAD_X(i) (READ4(x, (i) >> 2)[(i) & 3u])
#else
layout(binding = 0) readonly buffer X { STORAGE x[]; };
#define LOAD_X(i) LOAD(x, i)
#endif
READ4_BUFFER(1, W, w, STORAGE4)
layout(binding = 2) readonly buffer Bias { STORAGE bias[]; };
layout(binding = 3) writeonly buffer Y { STORAGE y[]; };

layout(push_constant) uniform Push {
  uint planes;
  uint channels;    // of the output
  uint multiplier;  // output channels of one input channel
  uint taps4;       // vec4s of weights per channel
  uint hasBias;
  uint inputs[2];  // extents: rows, columns
  uint outputs[2];
  uint kernel[2];
  int stride[2];
  int dilation[2];
  int padBegin[2];
  float low;  // results are clamped to [low, high]
  float high;
} push;

float convolve(uint plane, uint channel, uint row, uint column) {
  const uint height = push.inputs[0], width = push.inputs[1], kernelWidth = push.kernel[1];
  const int dilation = push.dilation[1], firstColumn = int(column) * push.stride[1] - push.padBegin[1];
  int iy = int(row) * push.stride[0] - push.padBegin[0];
  uint tap = channel * push.taps4 * 4;
  float sum = 0.0;
  for (uint ky = 0; ky < push.kernel[0]; ++ky, iy += push.dilation[0]) {
    const uint line = (plane / push.multiplier * height + uint(iy)) * width;
    int ix = firstColumn;
    for (uint kx = 0; kx < kernelWidth; ++kx, ++tap, ix += dilation) {
      // As unsigned, a negative position is huge.
      if (uint(iy) < height && uint(ix) < width) sum += READ4(w, tap >> 2)[tap & 3u] * LOAD_X(line + uint(ix));
    }
  }
  return sum;
}

void main() {
  const uint column = gl_WorkGroupID.x * gl_WorkGroupSize.x + gl_LocalInvocationID.x;
  const uint rows = push.outputs[0], columns = push.outputs[1];
  if (column >= columns) return;
  for (uint plane = gl_WorkGroupID.z; plane < push.planes; plane += gl_NumWorkGroups.z) {
    const uint channel = plane % push.channels;
    float shift = 0.0;
    if (push.hasBias != 0) shift = LOAD(bias, channel);
    for (uint row = gl_WorkGroupID.y; row < rows; row += gl_NumWorkGroups.y) {
      const float value = convolve(plane, channel, row, column) + shift;
      STORE(y, (plane * rows + row) * columns + column,
            value < push.low ? push.low : value > push.high ? push.high : value);  // a NaN stays
    }
  }
}
