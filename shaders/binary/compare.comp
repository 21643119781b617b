// The comparisons and logic functions of ops/binary/binary_table.h on pairs that broadcast; `function` selects one.
// The result is bool. Driven by ops/binary/binary_vulkan.cpp.
//! variant STORAGE: f32 f16 f64 i8 u8 i16 u16 i32 u32 i64 u64 bool
//! variant WIDTH: 1 4
#version 450
#include "broadcast.glsl"

layout(constant_id = 2) const uint function = 0;

ELEMENTS_IN(0, X, x, STORAGE)
ELEMENTS_IN(1, Y, y, STORAGE)
ELEMENTS_OUT(2, Z, z, BOOL)

layout(push_constant) uniform Push {
  BROADCAST_PUSH
  uint xStrides[6];
  uint yStrides[6];
} push;

DEFINE_PLACE_OF

#ifdef STORAGE_BOOL
#define VALUE uint
#else
#define VALUE ARITH
#endif
#define COMPARE(id, Name, types, value) \
  if (function == uint(id)) return value;
#define LOGIC(id, Name, value) \
  if (function == uint(id)) return value;

bool apply(VALUE x, VALUE y) {
#include "ops/binary/binary_table.h"
  return false;
}

bool valueOf(ARITH a, ARITH b) { return apply(VALUE(a), VALUE(b)); }

void main() {
  const Place place = placeOf(linearIndex());
  FOURS_FROM(place.element, i, push.count)
    uint xAt = OFFSET_OF(place, x), yAt = OFFSET_OF(place, y);
    STORAGE_ARITH4 a = STORAGE_ARITH4(0), b = a;
    BOOL_ARITH4 values = BOOL_ARITH4(0);
    for (uint row = 0; row < place.rows; ++row) {
      TAKE_FOUR(a, STORAGE, x, xAt, row)
      TAKE_FOUR(b, STORAGE, y, yAt, row)
      EACH_OF_FOUR {
        values = BOOL_ARITH4(values.yzw, valueOf(a.x, b.x));
        a = a.yzwx;
        b = b.yzwx;
      }
      BOOL_STORE4(z, i + row * rowDistance(), values);
    }
  ONES(i, push.count)
    BOOL_STORE(z, i, valueOf(LOAD(x, ELEMENT_OF(place, x, i)), LOAD(y, ELEMENT_OF(place, y, i))));
  END_OF_ONES(i, push.count)
}
