// Tensors kept as images of four channels per texel (Layout::NC4HW4): element (n, c, y, x) of a tensor [batch,
// channels, height, width] is component c % 4 of the texel at (c / 4 * width + x, n * height + y). Components of
// channels that do not exist are zero; kernels keep them so.
//
// IMAGE_IN(number, name) and IMAGE_OUT(number, name) declare bindings; IMAGE_LOAD gives four floats, IMAGE_STORE
// takes them. Images are written as whole texels only.
#ifndef OPKIT_IMAGE4_GLSL
#define OPKIT_IMAGE4_GLSL

#ifdef STORAGE_F16
#define IMAGE_FORMAT rgba16f
// A device may cut what it stores in an image (llvmpipe does), but converts to the nearest elsewhere.
#define IMAGE_ROUND(value) roundToHalf(value)
vec4 roundToHalf(vec4 value) {
  return vec4(unpackHalf2x16(packHalf2x16(value.xy)), unpackHalf2x16(packHalf2x16(value.zw)));
}
#else
#define IMAGE_FORMAT rgba32f
#define IMAGE_ROUND(value) (value)
#endif

#define IMAGE_IN(number, name) layout(binding = number) uniform sampler2D name;
#define IMAGE_OUT(number, name) layout(binding = number, IMAGE_FORMAT) writeonly uniform image2D name;
#define IMAGE_LOAD(name, column, row) texelFetch(name, ivec2(column, row), 0)
#define IMAGE_STORE(name, column, row, value) imageStore(name, ivec2(column, row), IMAGE_ROUND(value))

/// `value` with the components of channels at and beyond `left` zeroed, even where they are NaN.
vec4 keepChannels(vec4 value, uint left) {
  return vec4(value.x, left > 1u ? value.y : 0.0, left > 2u ? value.z : 0.0, left > 3u ? value.w : 0.0);
}

#endif
