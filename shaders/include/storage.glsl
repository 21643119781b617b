// Element types: storage type, arithmetic type, load and store of each.
//
// For a variant axis over element types, such as `//! variant FROM: f32 f16 bool`, the build defines FROM_TYPE (the
// buffer's element), FROM_ARITH (the arithmetic type), FROM_LOAD(buffer, i) -> FROM_ARITH and
// FROM_STORE(buffer, i, value). The axis STORAGE has the short names STORAGE, ARITH, LOAD and STORE. Always load and
// store through these macros, so that a device profile can change buffer reads.
//
// Floats compute in float, 8- and 16-bit integers in int or uint, bool in bool (stored as a byte, 0 or 1; any
// other byte reads as true). STORE converts from any scalar with GLSL's constructors; fp16 is rounded to nearest
// even in code (half.glsl). u32x2, u32x4 and u64x2 only move bits.
#ifndef OPKIT_STORAGE_GLSL
#define OPKIT_STORAGE_GLSL
#include "extensions.glsl"
#include "half.glsl"

#define TYPE_F32 float
#define ARITH_F32 float
#define LOAD_F32(buffer, i) (buffer[i])
#define STORE_F32(buffer, i, value) buffer[i] = float(value)

#define TYPE_F16 float16_t
#define ARITH_F16 float
#define LOAD_F16(buffer, i) float(buffer[i])
#define STORE_F16(buffer, i, value) buffer[i] = float16_t(roundToHalf(float(value)))

#define TYPE_F64 double
#define ARITH_F64 double
#define LOAD_F64(buffer, i) (buffer[i])
#define STORE_F64(buffer, i, value) buffer[i] = double(value)

#define TYPE_I8 int8_t
#define ARITH_I8 int
#define LOAD_I8(buffer, i) int(buffer[i])
#define STORE_I8(buffer, i, value) buffer[i] = int8_t(int(value))

#define TYPE_U8 uint8_t
#define ARITH_U8 uint
#define LOAD_U8(buffer, i) uint(buffer[i])
#define STORE_U8(buffer, i, value) buffer[i] = uint8_t(uint(value))

#define TYPE_I16 int16_t
#define ARITH_I16 int
#define LOAD_I16(buffer, i) int(buffer[i])
#define STORE_I16(buffer, i, value) buffer[i] = int16_t(int(value))

#define TYPE_U16 uint16_t
#define ARITH_U16 uint
#define LOAD_U16(buffer, i) uint(buffer[i])
#define STORE_U16(buffer, i, value) buffer[i] = uint16_t(uint(value))

#define TYPE_I32 int
#define ARITH_I32 int
#define LOAD_I32(buffer, i) (buffer[i])
#define STORE_I32(buffer, i, value) buffer[i] = int(value)

#define TYPE_U32 uint
#define ARITH_U32 uint
#define LOAD_U32(buffer, i) (buffer[i])
#define STORE_U32(buffer, i, value) buffer[i] = uint(value)

#define TYPE_I64 int64_t
#define ARITH_I64 int64_t
#define LOAD_I64(buffer, i) (buffer[i])
#define STORE_I64(buffer, i, value) buffer[i] = int64_t(value)

#define TYPE_U64 uint64_t
#define ARITH_U64 uint64_t
#define LOAD_U64(buffer, i) (buffer[i])
#define STORE_U64(buffer, i, value) buffer[i] = uint64_t(value)

#define TYPE_BOOL uint8_t
#define ARITH_BOOL bool
#define LOAD_BOOL(buffer, i) (uint(buffer[i]) != 0u)
#define STORE_BOOL(buffer, i, value) buffer[i] = uint8_t(uint(bool(value)))

#define TYPE_U32X2 uvec2
#define ARITH_U32X2 uvec2
#define LOAD_U32X2(buffer, i) (buffer[i])
#define STORE_U32X2(buffer, i, value) buffer[i] = value

#define TYPE_U32X4 uvec4
#define ARITH_U32X4 uvec4
#define LOAD_U32X4(buffer, i) (buffer[i])
#define STORE_U32X4(buffer, i, value) buffer[i] = value

#define TYPE_U64X2 u64vec2
#define ARITH_U64X2 u64vec2
#define LOAD_U64X2(buffer, i) (buffer[i])
#define STORE_U64X2(buffer, i, value) buffer[i] = value

#ifdef STORAGE_TYPE
#define STORAGE STORAGE_TYPE
#define ARITH STORAGE_ARITH
#define LOAD STORAGE_LOAD
#define STORE STORAGE_STORE
#endif

#endif
