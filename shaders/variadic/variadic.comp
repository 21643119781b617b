// One step of Sum and Mean: adds an operand, broadcast, to a float accumulator; the last step writes the result. A mean
// keeps the sums of huge elements (mean.glsl) after the others, from `hugeAt` on. Driven by
// ops/variadic/variadic_vulkan.cpp.
//! variant STORAGE: f32 f16
//! variant WIDTH: 1 4
#version 450
#include "broadcast.glsl"
#include "mean.glsl"

layout(constant_id = 2) const bool first = false;
layout(constant_id = 3) const bool last = false;
layout(constant_id = 4) const bool mean = false;

#define SUM_TYPE TYPE_F32
#define SUM_TYPE4 TYPE4_F32
ELEMENTS_IN(0, X, x, STORAGE)
ELEMENTS_INOUT(1, Sum, sum, SUM)
ELEMENTS_OUT(2, Y, y, STORAGE)

layout(push_constant) uniform Push {
  BROADCAST_PUSH
  uint hugeAt;  // in `sum`, a multiple of 4
  float divisor;
  uint xStrides[6];
} push;

DEFINE_PLACE_OF

/// Adds an element to an accumulator, which has a second part if `mean`.
void add(float value, inout float total, inout float hugeSum) {
  if (mean)
    addToMean(value, total, hugeSum);
  else
    total += value;
}
float result(float total, float hugeSum) { return mean ? meanOf(total, hugeSum, push.divisor) : total; }

void main() {
  const Place place = placeOf(linearIndex());
  FOURS_FROM(place.element, i, push.count)
    uint xAt = OFFSET_OF(place, x);
    STORAGE_ARITH4 values = STORAGE_ARITH4(0);
    for (uint row = 0; row < place.rows; ++row) {
      const uint at = i + row * rowDistance();
      TAKE_FOUR(values, STORAGE, x, xAt, row)
      vec4 totals = vec4(-0.0), hugeSums = vec4(0.0), results = vec4(0.0);  // -0 + x is x
      if (!first) totals = LOAD4_F32(sum, at);
      if (!first && mean) hugeSums = LOAD4_F32(sum, push.hugeAt + at);
      EACH_OF_FOUR {
        float total = totals.x, hugeSum = hugeSums.x;
        add(values.x, total, hugeSum);
        totals = vec4(totals.yzw, total);
        hugeSums = vec4(hugeSums.yzw, hugeSum);
        results = vec4(results.yzw, last ? result(total, hugeSum) : 0.0);
        values = values.yzwx;
      }
      if (last) {
        STORAGE_STORE4(y, at, results);
      } else {
        STORE4_F32(sum, at, totals);
        if (mean) STORE4_F32(sum, push.hugeAt + at, hugeSums);
      }
    }
  ONES(i, push.count)
    float total = first ? -0.0 : sum[i], hugeSum = 0.0;
    if (!first && mean) hugeSum = sum[push.hugeAt + i];
    add(LOAD(x, ELEMENT_OF(place, x, i)), total, hugeSum);
    if (last) {
      STORE(y, i, result(total, hugeSum));
    } else {
      sum[i] = total;
      if (mean) sum[push.hugeAt + i] = hugeSum;
    }
  END_OF_ONES(i, push.count)
}
