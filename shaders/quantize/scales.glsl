// The place of an element's scale and zero point: ScalePlan of ops/quantize/quantize.h. The push constants hold
// SCALES_PUSH.
#ifndef OPKIT_SCALES_GLSL
#define OPKIT_SCALES_GLSL

// The scales of four neighbours: scales of any numbers, one scale, or four neighbouring ones that begin at a multiple of 4.
const uint kAny = 0u, kOne = 1u, kFour = 2u;

// The axis of scales, which have no variants.
#define SCALE_TYPE TYPE_F32
#define SCALE_TYPE4 TYPE4_F32

#define SCALES_PUSH                                                       \
  uint count;                                                             \
  uint hasZeroPoint;                                                      \
  uint steps[3];       /* outer, block, inner */                          \
  uint divisors[3];    /* inner, extent, block */                         \
  uint multipliers[3]; /* for the division by them (vulkan::Divisor) */   \
  uint shifts[3];

#define DEFINE_SCALE_OF                                                   \
  uint quotientBy(uint value, uint which) {                               \
    uint high, low;                                                       \
    umulExtended(value, push.multipliers[which], high, low);              \
    return (high + value) >> push.shifts[which];                          \
  }                                                                       \
  uint scaleOf(uint i) {                                                  \
    if ((push.steps[1] | push.steps[2]) == 0u) return 0u;                 \
    const uint row = quotientBy(i, 0u), outer = quotientBy(row, 1u);      \
    const uint block = quotientBy(row - outer * push.divisors[1], 2u);    \
    return outer * push.steps[0] + block * push.steps[1] + (i - row * push.divisors[0]) * push.steps[2]; \
  }

/// Sets the scales and zero points of elements i .. i+3; `AXIS` is that of the zero points.
#define SCALES_OF_FOUR(i, AXIS, scales, zeroPoints)                       \
  const uint first = scaleOf(i);                                          \
  if (form == kFour) {                                                    \
    scales = scale4[first / 4u];                                          \
    if (push.hasZeroPoint != 0u) zeroPoints = ivec4(AXIS##_LOAD4(zeroPoint, first)); \
  } else if (form == kOne) {                                              \
    scales = vec4(scale[first]);                                          \
    if (push.hasZeroPoint != 0u) zeroPoints = ivec4(int(AXIS##_LOAD(zeroPoint, first))); \
  } else {                                                                \
    [[unroll]] for (uint j = 0u; j < 4u; ++j) {                           \
      const uint s = scaleOf(i + j);                                      \
      scales[j] = scale[s];                                               \
      if (push.hasZeroPoint != 0u) zeroPoints[j] = int(AXIS##_LOAD(zeroPoint, s)); \
    }                                                                     \
  }

#endif
