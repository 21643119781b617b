// Four elements as one vector: AXIS_TYPE4, AXIS_ARITH4, AXIS_LOAD4 and AXIS_STORE4 beside those of storage.glsl.
//
// AXIS_LOAD4(x, i) loads elements i .. i+3 of x through its view x4 (elementwise.glsl); i is a multiple of 4. They
// convert like AXIS_LOAD and AXIS_STORE. Words of 8 and 16 bytes have no vectors: they are wide enough alone.
#ifndef OPKIT_FOUR_GLSL
#define OPKIT_FOUR_GLSL
#include "storage.glsl"

#define TYPE4_F32 vec4
#define ARITH4_F32 vec4
#define LOAD4_F32(buffer, i) (buffer##4[(i) / 4u])
#define STORE4_F32(buffer, i, value) buffer##4[(i) / 4u] = vec4(value)

#define TYPE4_F16 f16vec4
#define ARITH4_F16 vec4
#define LOAD4_F16(buffer, i) vec4(buffer##4[(i) / 4u])
#define STORE4_F16(buffer, i, value) buffer##4[(i) / 4u] = f16vec4(roundToHalf4(value))
vec4 roundToHalf4(vec4 value) {
  return vec4(roundToHalf(value.x), roundToHalf(value.y), roundToHalf(value.z), roundToHalf(value.w));
}

#define TYPE4_F64 dvec4
#define ARITH4_F64 dvec4
#define LOAD4_F64(buffer, i) (buffer##4[(i) / 4u])
#define STORE4_F64(buffer, i, value) buffer##4[(i) / 4u] = dvec4(value)

#define TYPE4_I8 i8vec4
#define ARITH4_I8 ivec4
#define LOAD4_I8(buffer, i) ivec4(buffer##4[(i) / 4u])
#define STORE4_I8(buffer, i, value) buffer##4[(i) / 4u] = i8vec4(ivec4(value))

#define TYPE4_U8 u8vec4
#define ARITH4_U8 uvec4
#define LOAD4_U8(buffer, i) uvec4(buffer##4[(i) / 4u])
#define STORE4_U8(buffer, i, value) buffer##4[(i) / 4u] = u8vec4(uvec4(value))

#define TYPE4_I16 i16vec4
#define ARITH4_I16 ivec4
#define LOAD4_I16(buffer, i) ivec4(buffer##4[(i) / 4u])
#define STORE4_I16(buffer, i, value) buffer##4[(i) / 4u] = i16vec4(ivec4(value))

#define TYPE4_U16 u16vec4
#define ARITH4_U16 uvec4
#define LOAD4_U16(buffer, i) uvec4(buffer##4[(i) / 4u])
#define STORE4_U16(buffer, i, value) buffer##4[(i) / 4u] = u16vec4(uvec4(value))

#define TYPE4_I32 ivec4
#define ARITH4_I32 ivec4
#define LOAD4_I32(buffer, i) (buffer##4[(i) / 4u])
#define STORE4_I32(buffer, i, value) buffer##4[(i) / 4u] = ivec4(value)

#define TYPE4_U32 uvec4
#define ARITH4_U32 uvec4
#define LOAD4_U32(buffer, i) (buffer##4[(i) / 4u])
#define STORE4_U32(buffer, i, value) buffer##4[(i) / 4u] = uvec4(value)

#define TYPE4_I64 i64vec4
#define ARITH4_I64 i64vec4
#define LOAD4_I64(buffer, i) (buffer##4[(i) / 4u])
#define STORE4_I64(buffer, i, value) buffer##4[(i) / 4u] = i64vec4(value)

#define TYPE4_U64 u64vec4
#define ARITH4_U64 u64vec4
#define LOAD4_U64(buffer, i) (buffer##4[(i) / 4u])
#define STORE4_U64(buffer, i, value) buffer##4[(i) / 4u] = u64vec4(value)

#define TYPE4_BOOL u8vec4
#define ARITH4_BOOL bvec4
#define LOAD4_BOOL(buffer, i) notEqual(uvec4(buffer##4[(i) / 4u]), uvec4(0u))
#define STORE4_BOOL(buffer, i, value) buffer##4[(i) / 4u] = u8vec4(uvec4(bvec4(value)))

// The axis of tensors of truth values, which have no variants.
#define BOOL_TYPE TYPE_BOOL
#define BOOL_ARITH ARITH_BOOL
#define BOOL_LOAD LOAD_BOOL
#define BOOL_STORE STORE_BOOL
#define BOOL_TYPE4 TYPE4_BOOL
#define BOOL_ARITH4 ARITH4_BOOL
#define BOOL_LOAD4 LOAD4_BOOL
#define BOOL_STORE4 STORE4_BOOL

#endif
