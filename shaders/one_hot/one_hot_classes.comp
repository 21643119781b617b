// OneHot: the class that each index names, counted from the front. An index outside [-depth, depth) gives a class that no
// element has. Fractions are cut off.
// 64-bit integers are two words. One invocation per index. Driven by ops/one_hot/one_hot_vulkan.cpp.
//! variant STORAGE: f32 f16 f64 i8 u8 i16 u16 i32 u32 u32x2
#version 450
#include "common.glsl"
#include "math.glsl"
#include "storage.glsl"

layout(local_size_x = 64) in;
layout(constant_id = 0) const bool isSigned = true;  // of 64-bit integers

layout(binding = 0) readonly buffer Indices { STORAGE indices[]; };
layout(binding = 1) writeonly buffer Classes { int classes[]; };

layout(push_constant) uniform Push {
  uint count;
  int depth;
} push;

const int kNone = 0x7FFFFFFF;  // beyond every depth

#if defined(STORAGE_F32) || defined(STORAGE_F16) || defined(STORAGE_F64)
int indexOf(ARITH value) {
  const float index = float(value);
  return isNan(index) || abs(index) >= 2147483520.0 ? kNone : int(value);
}
#elif defined(STORAGE_U32X2)
int indexOf(uvec2 words) {
  if (isSigned) return words.y == uint(int(words.x) >> 31) ? int(words.x) : kNone;
  return words.y == 0u && words.x < uint(kNone) ? int(words.x) : kNone;
}
#elif defined(STORAGE_U32)
int indexOf(uint value) { return int(min(value, uint(kNone))); }
#else
int indexOf(ARITH value) { return int(value); }
#endif

void main() {
  const uint i = linearIndex();
  if (i >= push.count) return;
  const int index = indexOf(LOAD(indices, i));
  classes[i] = index < 0 ? index + push.depth : index;
}
