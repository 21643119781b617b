// LabelEncoder: the value of the key that an element equals, found by halves in keys that rise, with NaN behind all
// numbers. Values move as words. One invocation per element. Driven by ops/label_encoder/label_encoder_vulkan.cpp.
//! variant STORAGE: f32 f64 i16 i32 i64
//! variant WORD: u16 u32 u32x2
#version 450
#include "common.glsl"
#include "storage.glsl"
#ifdef STORAGE_F64
#include "double.glsl"
#else
#include "math.glsl"
#endif

layout(local_size_x = 64) in;

layout(binding = 0) readonly buffer X { STORAGE x[]; };
layout(binding = 1) readonly buffer Keys { STORAGE keys[]; };
layout(binding = 2) readonly buffer Values { WORD_TYPE values[]; };
layout(binding = 3) readonly buffer Other { WORD_TYPE other[]; };
layout(binding = 4) writeonly buffer Y { WORD_TYPE y[]; };

layout(push_constant) uniform Push {
  uint count;
  uint keyCount;
} push;

bool isMissing(ARITH value) {
#if defined(STORAGE_F32) || defined(STORAGE_F64)
  return isNan(value);
#else
  return false;
#endif
}

/// The first key that is not below the value; for NaN, the last one.
uint placeOf(ARITH value) {
  if (isMissing(value)) return max(push.keyCount, 1u) - 1u;
  uint low = 0u, high = push.keyCount;
  while (low < high) {
    const uint middle = (low + high) / 2u;
    const ARITH key = LOAD(keys, middle);
    if (!isMissing(key) && key < value) {
      low = middle + 1u;
    } else {
      high = middle;
    }
  }
  return low;
}

bool isAt(uint place, ARITH value) {
  if (place >= push.keyCount) return false;
  const ARITH key = LOAD(keys, place);
  return isMissing(value) ? isMissing(key) : !isMissing(key) && key == value;
}

void main() {
  const uint i = linearIndex();
  if (i >= push.count) return;
  const ARITH value = LOAD(x, i);
  const uint place = placeOf(value);
  if (isAt(place, value)) {
    WORD_STORE(y, i, WORD_LOAD(values, place));
  } else {
    WORD_STORE(y, i, WORD_LOAD(other, 0));
  }
}
