// Elementwise kernels: an invocation computes one element, or four neighbours that it loads and stores as vectors. The
// kernel dispatches vulkan::Elements, or vulkan::BroadcastWork (broadcast.glsl); they choose WIDTH.
//
// This declares the work group. A buffer has two views, of elements and of fours, named x and x4. The variant 1 has no
// code of the variant 4:
//
//   //! variant WIDTH: 1 4
//   ELEMENTS_IN(0, X, x, STORAGE)
//   ELEMENTS_OUT(1, Y, y, STORAGE)
//   #define f(value) apply(value, push.a)
//   void main() { MAP_ELEMENTS(f, y, STORAGE, x, STORAGE, push.count) }
//
// Kernels of another form write the two parts themselves; elements that fill no four, at the end, are computed alone:
//
//   void main() {
//     FOURS(i, push.count)
//       STORAGE_ARITH4 values = STORAGE_LOAD4(x, i), results = STORAGE_ARITH4(0);
//       EACH_OF_FOUR {
//         results = STORAGE_ARITH4(results.yzw, f(values.x));
//         values = values.yzwx;
//       }
//       STORAGE_STORE4(y, i, results);
//     ONES(i, push.count)
//       STORE(y, i, f(LOAD(x, i)));
//     END_OF_ONES(i, push.count)
//   }
#ifndef OPKIT_ELEMENTWISE_GLSL
#define OPKIT_ELEMENTWISE_GLSL
#include "common.glsl"
#include "four.glsl"

layout(local_size_x = 64) in;
const uint width = WIDTH;

#define ELEMENTS_IN(number, Block, name, AXIS)                                   \
  layout(binding = number) readonly buffer Block { AXIS##_TYPE name[]; };        \
  layout(binding = number) readonly buffer Block##4 { AXIS##_TYPE4 name##4[]; };
#define ELEMENTS_OUT(number, Block, name, AXIS)                                  \
  layout(binding = number) writeonly buffer Block { AXIS##_TYPE name[]; };       \
  layout(binding = number) writeonly buffer Block##4 { AXIS##_TYPE4 name##4[]; };
#define ELEMENTS_INOUT(number, Block, name, AXIS)                                \
  layout(binding = number) buffer Block { AXIS##_TYPE name[]; };                 \
  layout(binding = number) buffer Block##4 { AXIS##_TYPE4 name##4[]; };

// Begins the part for elements i .. i+3; `first` is the first element of the invocation.
#define FOURS_FROM(first, i, count)                       \
  const uint i##First = first;                            \
  if (i##First >= (count)) return;                        \
  if (width == 4u && (count) - i##First >= 4u) {          \
    const uint i = i##First;
#define FOURS(i, count) FOURS_FROM(linearIndex() * width, i, count)
// Begins the part for one element; with width 1 the loop vanishes.
#define ONES(i, count)                                    \
  } else {                                                \
    uint i##Next = i##First;                              \
    do {                                                  \
      const uint i = i##Next;
#define END_OF_ONES(i, count)                             \
      ++i##Next;                                          \
    } while (width != 1u && i##Next < (count));           \
  }

// Turns a vector four times instead of indexing it: the body stays one copy, and registers need no addresses.
#define EACH_OF_FOUR for (uint ofFour = 0u; ofFour < 4u; ++ofFour)

#define MAP_ELEMENTS(f, to, TO, from, FROM, count)                              \
  FOURS(i, count)                                                               \
    FROM##_ARITH4 values = FROM##_LOAD4(from, i);                               \
    TO##_ARITH4 results = TO##_ARITH4(0);                                       \
    EACH_OF_FOUR {                                                              \
      results = TO##_ARITH4(results.yzw, f(values.x));                          \
      values = values.yzwx;                                                     \
    }                                                                           \
    TO##_STORE4(to, i, results);                                                \
  ONES(i, count)                                                                \
    TO##_STORE(to, i, f(FROM##_LOAD(from, i)));                                 \
  END_OF_ONES(i, count)

#endif
