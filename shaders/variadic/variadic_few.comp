// Sum and Mean of one to three operands that broadcast, in one pass. Driven by ops/variadic/variadic_vulkan.cpp.
//! variant STORAGE: f32 f16
//! variant WIDTH: 1 4
#version 450
#include "broadcast.glsl"
#include "mean.glsl"

layout(constant_id = 2) const uint operands = 3;
layout(constant_id = 3) const bool mean = false;

ELEMENTS_IN(0, X, x, STORAGE)
ELEMENTS_IN(1, U, u, STORAGE)
ELEMENTS_IN(2, V, v, STORAGE)
ELEMENTS_OUT(3, Y, y, STORAGE)

layout(push_constant) uniform Push {
  BROADCAST_PUSH
  uint xStrides[6];
  uint uStrides[6];
  uint vStrides[6];
} push;

DEFINE_PLACE_OF

float valueOf(float a, float b, float c) {
  if (!mean) return operands == 1u ? a : operands == 2u ? a + b : a + b + c;
  float total = -0.0, hugeSum = 0.0;  // -0 + x is x
  addToMean(a, total, hugeSum);
  if (operands > 1u) addToMean(b, total, hugeSum);
  if (operands > 2u) addToMean(c, total, hugeSum);
  return meanOf(total, hugeSum, float(operands));
}

void main() {
  const Place place = placeOf(linearIndex());
  FOURS_FROM(place.element, i, push.count)
    uint xAt = OFFSET_OF(place, x), uAt = OFFSET_OF(place, u), vAt = OFFSET_OF(place, v);
    vec4 a = vec4(0.0), b = a, c = a, values = a;
    for (uint row = 0; row < place.rows; ++row) {
      TAKE_FOUR(a, STORAGE, x, xAt, row)
      if (operands > 1u) { TAKE_FOUR(b, STORAGE, u, uAt, row) }
      if (operands > 2u) { TAKE_FOUR(c, STORAGE, v, vAt, row) }
      EACH_OF_FOUR {
        values = vec4(values.yzw, valueOf(a.x, b.x, c.x));
        a = a.yzwx;
        b = b.yzwx;
        c = c.yzwx;
      }
      STORAGE_STORE4(y, i + row * rowDistance(), values);
    }
  ONES(i, push.count)
    const float a = LOAD(x, ELEMENT_OF(place, x, i));
    float b = 0.0, c = 0.0;
    if (operands > 1u) b = LOAD(u, ELEMENT_OF(place, u, i));
    if (operands > 2u) c = LOAD(v, ELEMENT_OF(place, v, i));
    STORE(y, i, valueOf(a, b, c));
  END_OF_ONES(i, push.count)
}
