// Plain loops that the compiler turns into vectors of each instruction set.
#include "ops/quantized_binary/quantized_binary_wide.h"

#include <algorithm>
#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/quantized_binary/quantized_binary_wide.cpp"
#include "engine/backend/cpu/foreach_target.h"

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace opkit::ops::quantized_binary {
namespace HWY_NAMESPACE {

/// y[i] = apply(a[i], b[i]) within a byte. The strides are constants here, since loops with unknown ones have no
/// vectors.
template <int64_t kA, int64_t kB, class Apply>
HWY_INLINE void applyRun(const Operand& a, const Operand& b, const Target& y, int64_t count, const Apply& apply) {
  const uint8_t *HWY_RESTRICT left = a.bytes, *HWY_RESTRICT right = b.bytes;
  uint8_t* HWY_RESTRICT to = y.bytes;
  const int32_t leftZero = a.zeroPoint, rightZero = b.zeroPoint, zero = y.zeroPoint;
  const int32_t leftFlip = a.flip, rightFlip = b.flip, flip = y.flip;
  for (int64_t i = 0; i < count; ++i) {
    const int32_t whole = apply((left[i * kA] ^ leftFlip) - leftZero, (right[i * kB] ^ rightFlip) - rightZero) + zero;
    to[i] = static_cast<uint8_t>(std::min(std::max(whole, 0), 255) ^ flip);
  }
}

template <class Apply>
HWY_INLINE void applyAll(const Operand& a, const Operand& b, const Target& y, int64_t count, const Apply& apply) {
  if (a.stride == 0) return applyRun<0, 1>(a, b, y, b.stride == 0 ? std::min<int64_t>(count, 1) : count, apply);
  if (b.stride == 0) return applyRun<1, 0>(a, b, y, count, apply);
  applyRun<1, 1>(a, b, y, count, apply);
}

void addAll(const Operand& a, const Operand& b, const Units& units, const Target& y, int64_t count) {
  const int32_t aUnits = units.a, bUnits = units.b, shift = units.shift;
  if (shift <= 0) {  // ratios of 2^20 and more: whole numbers, of which all but 0 may be far away
    constexpr int32_t kFar = 1024;
    const int32_t factor = 1 << std::min(-shift, 20);
    return applyAll(a, b, y, count, [=](int32_t left, int32_t right) HWY_ATTR {
      return std::min(std::max(left * aUnits + right * bUnits, -kFar), kFar) * factor;
    });
  }
  const int32_t belowHalf = (1 << (shift - 1)) - 1;
  applyAll(a, b, y, count, [=](int32_t left, int32_t right) HWY_ATTR {
    const int32_t sum = left * aUnits + right * bUnits, isOdd = (sum >> shift) & 1;
    return (sum + belowHalf + isOdd) >> shift;  // the sum has 30 bits, so that this one has 31
  });
}

void multiplyAll(const Operand& a, const Operand& b, float ratio, const Target& y, int64_t count) {
  constexpr float kWhole = 0x1.8p23f;  // a float of magnitude 2^22 or less becomes whole when this is added
  constexpr float kFar = 1024;         // saturates with any zero point
  applyAll(a, b, y, count, [=](int32_t left, int32_t right) HWY_ATTR {
    const float value = static_cast<float>(left * right) * ratio;
    const float above = value > -kFar ? value : -kFar;  // the least for NaN
    return static_cast<int32_t>(((above < kFar ? above : kFar) + kWhole) - kWhole);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace opkit::ops::quantized_binary
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opkit::ops::quantized_binary {

HWY_EXPORT(addAll);
HWY_EXPORT(multiplyAll);

void addRun(const Operand& a, const Operand& b, const Units& units, const Target& y, int64_t count) {
  HWY_DYNAMIC_DISPATCH(addAll)(a, b, units, y, count);
}
void multiplyRun(const Operand& a, const Operand& b, float ratio, const Target& y, int64_t count) {
  HWY_DYNAMIC_DISPATCH(multiplyAll)(a, b, ratio, y, count);
}

Units Units::of(float a, float b) {
  if (!std::isfinite(a)) a = 0;
  if (!std::isfinite(b)) b = 0;
  const float larger = std::max(std::fabs(a), std::fabs(b));
  if (larger == 0) return {};
  const int shift = 20 - std::ilogb(larger);
  if (shift > 30) return {};  // no sum of two products with a byte reaches a half
  const auto inUnits = [&](float ratio) {
    return static_cast<int32_t>(std::nearbyint(std::ldexp(static_cast<double>(ratio), shift)));
  };
  return {inUnits(a), inUnits(b), shift};
}

}  // namespace opkit::ops::quantized_binary
#endif
