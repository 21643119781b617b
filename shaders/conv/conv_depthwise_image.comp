// Convolution with one input and one output channel per group over NC4HW4 images. One invocation per texel of the
// output. w holds a vec4 of channels per tap, [block][ky][kx]; absent channels have zero weights and bias. Driven by
// ops/conv/conv_image_vulkan.cpp.
//! variant STORAGE: f32 f16
//! variant READ: ssbo texel
#version 450
#include "common.glsl"
#include "storage.glsl"
#include "read4.glsl"
#include "image4.glsl"

layout(local_size_x = 64) in;

IMAGE_IN(0, x)
READ4_BUFFER(1, W, w, STORAGE4)
READ4_BUFFER(2, Bias, bias, STORAGE4)
IMAGE_OUT(3, y)

layout(push_constant) uniform Push {
  uint count;  // texels of the output
  uint blocks;
  uint inputs[2];  // extents: rows, columns
  uint outputs[2];
  uint kernel[2];
  int stride[2];
  int dilation[2];
  int padBegin[2];
  float low;  // results are limited to [low, high]; NaN stays
  float high;
} push;

void main() {
  const uint i = linearIndex();
  if (i >= push.count) return;
  const uint rows = push.outputs[0], columns = push.outputs[1], blocks = push.blocks;
  const int height = int(push.inputs[0]), width = int(push.inputs[1]);
  const uint column = i % (blocks * columns), row = i / (blocks * columns);
  const uint block = column / columns;
  const uint kernelY = push.kernel[0], kernelX = push.kernel[1];
  const int imageRow = int(row / rows) * height, imageColumn = int(block) * width;
  const int firstX = int(column % columns) * push.stride[1] - push.padBegin[1];
  int iy = int(row % rows) * push.stride[0] - push.padBegin[0];
  uint tap = block * kernelY * kernelX;
  vec4 sum = READ4(bias, block);
  for (uint ky = 0; ky < kernelY; ++ky, iy += push.dilation[0]) {
    int ix = firstX;
    for (uint kx = 0; kx < kernelX; ++kx, ++tap, ix += push.dilation[1]) {
      const vec4 value = IMAGE_LOAD(x, imageColumn + ix, imageRow + iy);
      const bool present = uint(iy) < uint(height) && uint(ix) < uint(width);
      sum += READ4(w, tap) * mix(vec4(0.0), value, bvec4(present));
    }
  }
  sum = mix(sum, vec4(push.low), lessThan(sum, vec4(push.low)));
  sum = mix(sum, vec4(push.high), greaterThan(sum, vec4(push.high)));
  IMAGE_STORE(y, column, row, sum);
}
