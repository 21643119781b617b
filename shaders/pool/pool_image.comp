// The maximum or mean of each window over two spatial axes of an NC4HW4 image. One invocation per texel of the output.
// NaN wins a maximum: comparisons keep it, but max() need not. Driven by ops/pool/pool_image_vulkan.cpp.
//! variant STORAGE: f32 f16
//! variant MODE: maximum mean
#version 450
#include "common.glsl"
#include "storage.glsl"
#include "mean.glsl"
#include "image4.glsl"

layout(local_size_x = 64) in;

IMAGE_IN(0, x)
IMAGE_OUT(1, y)

layout(push_constant) uniform Push {
  uint count;  // texels of the output
  uint blocks;
  uint channels;
  uint countPadding;
  uint inputs[2];  // extents: rows, columns
  uint outputs[2];
  uint kernel[2];
  int stride[2];
  int dilation[2];
  int padBegin[2];
  int padEnd[2];
} push;

void main() {
  const uint i = linearIndex();
  if (i >= push.count) return;
  const uint rows = push.outputs[0], columns = push.outputs[1], blocks = push.blocks;
  const uint height = push.inputs[0], width = push.inputs[1];
  const uint column = i % (blocks * columns), row = i / (blocks * columns);
  const uint kernelY = push.kernel[0], kernelX = push.kernel[1];
  const int strideY = push.stride[0], dilationY = push.dilation[0], dilationX = push.dilation[1];
  const int firstY = int(row % rows) * strideY - push.padBegin[0];
  const int firstX = int(column % columns) * push.stride[1] - push.padBegin[1];
  const int imageRow = int(row / rows * height), imageColumn = int(column / columns * width);
  uint inside = 0, padded = 0;  // taps in the input, and in it or its declared padding
#ifdef MODE_MAXIMUM
  vec4 result = vec4(uintBitsToFloat(0xFF800000u));  // of no elements
#else
  vec4 result = vec4(0.0), hugeSum = vec4(0.0);
#endif
  int iy = firstY;
  for (uint ky = 0; ky < kernelY; ++ky, iy += dilationY) {
    int ix = firstX;
    for (uint kx = 0; kx < kernelX; ++kx, ix += dilationX) {
      const bool present = uint(iy) < height && uint(ix) < width;
      const vec4 value = IMAGE_LOAD(x, imageColumn + ix, imageRow + iy);
#ifdef MODE_MAXIMUM
      // Kept unless the new value is larger or NaN; a NaN that was taken stays.
      const bvec4 larger = not(lessThanEqual(value, result));
      const bvec4 number = equal(result, result);
      result = mix(result, value, bvec4(present && larger.x && number.x, present && larger.y && number.y,
                                        present && larger.z && number.z, present && larger.w && number.w));
#else
      addToMean(mix(vec4(0.0), value, bvec4(present)), result, hugeSum);
      inside += present ? 1u : 0u;
      padded += iy < int(height) + push.padEnd[0] && ix < int(width) + push.padEnd[1] ? 1u : 0u;
#endif
    }
  }
#ifdef MODE_MEAN
  result = meanOf(result, hugeSum, float(max(push.countPadding != 0 ? padded : inside, 1u)));
#endif
  // A window without elements has the maximum -Inf, beyond the last channel too.
  IMAGE_STORE(y, column, row, keepChannels(result, push.channels - column / columns * 4u));
}
