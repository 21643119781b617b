// The extensions of storage.glsl. Declaring them costs nothing: a shader requires a capability of the device only if it
// uses a type of that size. Include this first, because extensions must precede any declaration.
#ifndef OPKIT_EXTENSIONS_GLSL
#define OPKIT_EXTENSIONS_GLSL
#extension GL_EXT_shader_8bit_storage : require
#extension GL_EXT_shader_16bit_storage : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
#extension GL_EXT_control_flow_attributes : require
#endif
