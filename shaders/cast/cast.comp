// Converts each element. Floats to integers truncate; integers become the nearest float, ties to even; anything but zero
// is true. Driven by ops/cast/cast_vulkan.cpp.
//! variant FROM: f32 f16 f64 i8 u8 i16 u16 i32 u32 i64 u64 bool
//! variant TO: f32 f16 f64 i8 u8 i16 u16 i32 u32 i64 u64 bool
//! variant WIDTH: 1 4
#version 450
#include "elementwise.glsl"
#include "shaders/cast/convert.glsl"

ELEMENTS_IN(0, X, x, FROM)
ELEMENTS_OUT(1, Y, y, TO)

layout(push_constant) uniform Push {
  uint count;
} push;

void main() { MAP_ELEMENTS(CONVERT, y, TO, x, FROM, push.count) }
