// Operands that broadcast, over up to 6 merged loops (engine/op/loops.h). The kernel dispatches vulkan::BroadcastWork.
//
// An invocation computes one element, or four neighbours of the innermost loop, of one row or of `rows` rows of the next
// loop: an operand that repeats over the rows is loaded once. An item's place costs no division: quotients come from a
// multiplication and a shift (Granlund, Montgomery: Division by invariant integers using multiplication, 1994).
//
// This declares constants 0 and 1. The shader's push constants begin with BROADCAST_PUSH, then have uint NAMEStrides[6]
// for each operand. FOURS_FROM of elementwise.glsl takes the place's element:
//
//   const Place place = placeOf(linearIndex());
//   FOURS_FROM(place.element, i, push.count)
//     uint from = OFFSET_OF(place, x);                      // element of operand x
//     ARITH4 value;
//     for (uint row = 0; row < place.rows; ++row) {         // elements i + row * rowDistance() and the next three
//       TAKE_FOUR(value, STORAGE, x, from, row)             // what repeats over the rows stays
//       ...
//     }
//   ONES(i, push.count)
//     ... LOAD(x, ELEMENT_OF(place, x, i)) ...
//   END_OF_ONES(i, push.count)
#ifndef OPKIT_BROADCAST_GLSL
#define OPKIT_BROADCAST_GLSL
#include "elementwise.glsl"

layout(constant_id = 0) const uint loops = 1;
layout(constant_id = 1) const uint rows = 1;  // of the loop before the innermost; a power of two

#define BROADCAST_PUSH                                                                 \
  uint count;           /* elements of the output */                                   \
  uint rowCount;        /* extent of the loop before the innermost, in elements */     \
  uint sizes[6];        /* items along each loop, outermost first */                   \
  uint multipliers[5];  /* for the division by sizes[1] to sizes[5] */                 \
  uint shifts;          /* likewise, 5 bits each */

struct Place {
  uint index[6];  // along each loop, in items
  uint element;   // of the output; >= count beyond the last item
  uint rows;      // from this element on, sizes[loops - 1] * width apart
};

#define DEFINE_PLACE_OF                                                                \
  uint quotientBySize(uint value, uint d) {                                            \
    uint high, low;                                                                    \
    umulExtended(value, push.multipliers[d - 1u], high, low);                          \
    return (high + value) >> (push.shifts >> (5u * (d - 1u)) & 31u);                   \
  }                                                                                    \
  Place placeOf(uint item) {                                                           \
    Place place = Place(uint[6](0u, 0u, 0u, 0u, 0u, 0u), item * width, 1u);            \
    uint rest = item, outer = 0u;                                                      \
    [[unroll]] for (uint i = 0u; i < 6u; ++i) {                                        \
      if (i >= loops) break;                                                           \
      const uint d = loops - 1u - i;                                                   \
      const uint next = d > 0u ? quotientBySize(rest, d) : 0u;                         \
      place.index[d] = d > 0u ? rest - next * push.sizes[d] : rest;                    \
      rest = next;                                                                     \
      if (i == 1u) outer = next;                                                       \
    }                                                                                  \
    if (width > 1u && rows > 1u) {                                                     \
      const uint row = place.index[loops - 2u] * rows;                                 \
      place.rows = min(rows, push.rowCount - min(row, push.rowCount));                 \
      place.element =                                                                  \
          ((outer * push.rowCount + row) * push.sizes[loops - 1u] + place.index[loops - 1u]) * width; \
    }                                                                                  \
    return place;                                                                      \
  }

#define OFFSET_OF(place, name)                                                         \
  (place.index[0] * push.name##Strides[0] + place.index[1] * push.name##Strides[1] +   \
   place.index[2] * push.name##Strides[2] + place.index[3] * push.name##Strides[3] +   \
   place.index[4] * push.name##Strides[4] + place.index[5] * push.name##Strides[5])

const uint innerLoop = loops > 1u ? loops - 1u : 0u, rowLoop = loops > 2u ? loops - 2u : 0u;

// The distance of two rows in the output; the operand's element for element i of the place.
#define rowDistance() (push.sizes[innerLoop] * width)
#define ELEMENT_OF(place, name, i) \
  (OFFSET_OF(place, name) + (push.name##Strides[innerLoop] == 0u ? 0u : (i) - place.element))

// Loads four elements of an operand at `at`, which moves on to the next row, or four copies of an element that repeats.
#define TAKE_FOUR(values, AXIS, name, at, row)                                         \
  if (row == 0u || push.name##Strides[rowLoop] != 0u) {                                \
    if (push.name##Strides[innerLoop] == 0u)                                           \
      values = AXIS##_ARITH4(AXIS##_LOAD(name, at));                                   \
    else                                                                               \
      values = AXIS##_LOAD4(name, at);                                                 \
  }                                                                                    \
  at += push.name##Strides[rowLoop] / rows;

#endif
