// Tensors as images of four channels per texel (Layout::NC4HW4): element (n, c, y, x) of a tensor [batch, channels,
// height, width] is component c % 4 of the texel at (c / 4 * width + x, n * height + y). Components beyond the last
// channel are zero; kernels must keep them zero.
//
// IMAGE_IN(number, name) and IMAGE_OUT(number, name) declare bindings. IMAGE_LOAD returns four floats, IMAGE_STORE
// writes four. Images are written as whole texels only.
#ifndef OPKIT_IMAGE4_GLSL
#define OPKIT_IMAGE4_GLSL

#ifdef STORAGE_F16
#include "half.glsl"
#define IMAGE_FORMAT rgba16f
// A device may truncate when it stores to an image; llvmpipe does.
#define IMAGE_ROUND(value) roundToHalf4(value)
vec4 roundToHalf4(vec4 value) {
  return vec4(roundToHalf(value.x), roundToHalf(value.y), roundToHalf(value.z), roundToHalf(value.w));
}
#else
#define IMAGE_FORMAT rgba32f
#define IMAGE_ROUND(value) (value)
#endif

#define IMAGE_IN(number, name) layout(binding = number) uniform sampler2D name;
#define IMAGE_OUT(number, name) layout(binding = number, IMAGE_FORMAT) writeonly uniform image2D name;
#define IMAGE_LOAD(name, column, row) texelFetch(name, ivec2(column, row), 0)
#define IMAGE_STORE(name, column, row, value) imageStore(name, ivec2(column, row), IMAGE_ROUND(value))

/// `value` with components `left` and above set to zero, even if they are NaN.
vec4 keepChannels(vec4 value, uint left) {
  return vec4(value.x, left > 1u ? value.y : 0.0, left > 2u ? value.z : 0.0, left > 3u ? value.w : 0.0);
}

#endif
