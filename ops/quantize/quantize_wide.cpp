// Vectors, and plain loops that the compiler turns into vectors of each instruction set.
#include "ops/quantize/quantize_wide.h"

#include <bit>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/quantize/quantize_wide.cpp"
#include "engine/backend/cpu/foreach_target.h"

#include "engine/backend/cpu/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace opkit::ops::quantize {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
namespace vectors = opkit::cpu::HWY_NAMESPACE;
using V = vectors::FloatVec;

/// y[i] = combine(x[i], scale[i * step]); y may be x.
template <class Combine>
HWY_INLINE void combineAll(const float* x, const float* scale, int64_t step, float* y, int64_t count,
                           const Combine& combine) {
  const V shared = vectors::set(*scale);
  int64_t i = 0;
  for (; i + vectors::kLanes <= count; i += vectors::kLanes)
    vectors::store(combine(vectors::load(x + i), step == 0 ? shared : vectors::load(scale + i)), y + i);
  if (i == count) return;
  const V last = step == 0 ? shared : vectors::loadPart(scale + i, count - i, 1.0f);
  vectors::storePart(combine(vectors::loadPart(x + i, count - i), last), y + i, count - i);
}

void divideAll(const float* x, const float* scale, int64_t step, float* quotients, int64_t count) {
  combineAll(x, scale, step, quotients, count, [](V a, V b) { return hn::Div(a, b); });
}
void multiplyAll(const float* values, const float* scale, int64_t step, float* y, int64_t count) {
  combineAll(values, scale, step, y, count, [](V a, V b) { return hn::Mul(a, b); });
}

/// A float of magnitude 2^22 or less becomes whole when this is added: its unit is the last bit of the sum. The last 16
/// bits are those of the whole number.
constexpr float kWhole = 0x1.8p23f;

template <class Y>
HWY_INLINE Y rounded(float quotient, int32_t zeroPoint) {
  const auto least = static_cast<float>(std::numeric_limits<Y>::min() - zeroPoint);
  const auto greatest = static_cast<float>(std::numeric_limits<Y>::max() - zeroPoint);
  const float above = quotient > least ? quotient : least;  // the least for NaN
  const float within = above < greatest ? above : greatest;
  return static_cast<Y>(std::bit_cast<uint32_t>(within + kWhole) + static_cast<uint32_t>(zeroPoint));
}
template <class Y>
HWY_INLINE void roundRun(const float* HWY_RESTRICT quotients, const int32_t* HWY_RESTRICT zeroPoint, int64_t step,
                         Y* HWY_RESTRICT y, int64_t count) {
  if (step == 0) {
    const int32_t shared = *zeroPoint;
    for (int64_t i = 0; i < count; ++i) y[i] = rounded<Y>(quotients[i], shared);
  } else {
    for (int64_t i = 0; i < count; ++i) y[i] = rounded<Y>(quotients[i], zeroPoint[i]);
  }
}
template <class Y>
HWY_INLINE void quantizeRun(const float* HWY_RESTRICT x, const float* HWY_RESTRICT scale,
                            const int32_t* HWY_RESTRICT zeroPoint, int64_t step, Y* HWY_RESTRICT y, int64_t count) {
  if (step == 0) {
    const float sharedScale = *scale;
    const int32_t shared = *zeroPoint;
    for (int64_t i = 0; i < count; ++i) y[i] = rounded<Y>(x[i] / sharedScale, shared);
  } else {
    for (int64_t i = 0; i < count; ++i) y[i] = rounded<Y>(x[i] / scale[i], zeroPoint[i]);
  }
}

template <class X>
HWY_INLINE float difference(X x, int32_t zeroPoint) {
  return static_cast<float>(static_cast<int32_t>(static_cast<uint32_t>(x) - static_cast<uint32_t>(zeroPoint)));
}
template <class X>
HWY_INLINE void subtractRun(const X* HWY_RESTRICT x, const int32_t* HWY_RESTRICT zeroPoint, int64_t step,
                            float* HWY_RESTRICT values, int64_t count) {
  if (step == 0) {
    const int32_t shared = *zeroPoint;
    for (int64_t i = 0; i < count; ++i) values[i] = difference(x[i], shared);
  } else {
    for (int64_t i = 0; i < count; ++i) values[i] = difference(x[i], zeroPoint[i]);
  }
}

/// One function per type, for the dispatch.
#define OPKIT_RUNS(Type, Name)                                                                                  \
  void round##Name(const float* q, const int32_t* z, int64_t step, Type* y, int64_t count) {                    \
    roundRun(q, z, step, y, count);                                                                             \
  }                                                                                                             \
  void quantize##Name(const float* x, const float* s, const int32_t* z, int64_t step, Type* y, int64_t count) { \
    quantizeRun(x, s, z, step, y, count);                                                                       \
  }                                                                                                             \
  void subtract##Name(const Type* x, const int32_t* z, int64_t step, float* values, int64_t count) {            \
    subtractRun(x, z, step, values, count);                                                                     \
  }
OPKIT_RUNS(int8_t, I8)
OPKIT_RUNS(uint8_t, U8)
OPKIT_RUNS(int16_t, I16)
OPKIT_RUNS(uint16_t, U16)
#undef OPKIT_RUNS
void subtractI32(const int32_t* x, const int32_t* z, int64_t step, float* values, int64_t count) {
  subtractRun(x, z, step, values, count);
}

}  // namespace HWY_NAMESPACE
}  // namespace opkit::ops::quantize
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opkit::ops::quantize {

HWY_EXPORT(divideAll);
HWY_EXPORT(multiplyAll);
void divideBy(const float* x, const float* scale, int64_t step, float* quotients, int64_t count) {
  HWY_DYNAMIC_DISPATCH(divideAll)(x, scale, step, quotients, count);
}
void multiplyBy(const float* values, const float* scale, int64_t step, float* y, int64_t count) {
  HWY_DYNAMIC_DISPATCH(multiplyAll)(values, scale, step, y, count);
}

#define OPKIT_RUNS(Type, Name)                                                                              \
  HWY_EXPORT(round##Name);                                                                                  \
  template <>                                                                                               \
  void roundTo(const float* q, const int32_t* z, int64_t step, Type* y, int64_t count) {                    \
    HWY_DYNAMIC_DISPATCH(round##Name)(q, z, step, y, count);                                                \
  }                                                                                                         \
  HWY_EXPORT(quantize##Name);                                                                               \
  template <>                                                                                               \
  void quantizeTo(const float* x, const float* s, const int32_t* z, int64_t step, Type* y, int64_t count) { \
    HWY_DYNAMIC_DISPATCH(quantize##Name)(x, s, z, step, y, count);                                          \
  }                                                                                                         \
  HWY_EXPORT(subtract##Name);                                                                               \
  template <>                                                                                               \
  void subtractFrom(const Type* x, const int32_t* z, int64_t step, float* values, int64_t count) {          \
    HWY_DYNAMIC_DISPATCH(subtract##Name)(x, z, step, values, count);                                        \
  }
OPKIT_RUNS(int8_t, I8)
OPKIT_RUNS(uint8_t, U8)
OPKIT_RUNS(int16_t, I16)
OPKIT_RUNS(uint16_t, U16)
#undef OPKIT_RUNS
HWY_EXPORT(subtractI32);
template <>
void subtractFrom(const int32_t* x, const int32_t* z, int64_t step, float* values, int64_t count) {
  HWY_DYNAMIC_DISPATCH(subtractI32)(x, z, step, values, count);
}

}  // namespace opkit::ops::quantize
#endif
