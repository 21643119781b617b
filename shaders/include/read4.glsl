// Reads a buffer as vec4s, in the fastest way of the device.
//
// With `//! variant READ: ssbo texel` a shader is compiled twice. READ4_BUFFER(number, Block, name, Type) declares the
// binding; Type is vec4 or f16vec4. READ4(name, i) loads elements 4i .. 4i+3 as floats. GPUs prefer storage buffers.
// lavapipe turns their loads into one scalar loop per lane but vectorises texel fetches (16 times faster per load if
// the host has AVX2 only). A tensor bound for texel reads must hold a multiple of 4 elements; its format follows from
// its dtype.
#ifndef OPKIT_READ4_GLSL
#define OPKIT_READ4_GLSL

#ifdef READ_TEXEL
#define READ4_BUFFER(number, Block, name, Type) layout(binding = number) uniform samplerBuffer name;
#define READ4(name, i) texelFetch(name, int(i))
#else
#define READ4_BUFFER(number, Block, name, Type) \
  layout(binding = number) readonly buffer Block { Type name[]; };
#define READ4(name, i) vec4(name[i])
#endif

#ifdef STORAGE_F16
#define STORAGE4 f16vec4
#else
#define STORAGE4 vec4
#endif

#endif
