// The extensions that storage.glsl needs. Declaring them costs nothing: a capability is required of the device
// only when a shader uses a type of that size. Included first, because extensions come before any declaration.
#ifndef OPKIT_EXTENSIONS_GLSL
#define OPKIT_EXTENSIONS_GLSL
#extension GL_EXT_shader_8bit_storage : require
#extension GL_EXT_shader_16bit_storage : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
#extension GL_EXT_control_flow_attributes : require
#endif
