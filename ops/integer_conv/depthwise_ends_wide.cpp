// Plain loops that the compiler turns into vectors of each instruction set.
#include "ops/integer_conv/depthwise_ends.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/integer_conv/depthwise_ends_wide.cpp"
#include "engine/backend/cpu/foreach_target.h"

HWY_BEFORE_NAMESPACE();
namespace opkit::ops::integer_conv {
namespace HWY_NAMESPACE {

void subtractAll(const uint8_t* HWY_RESTRICT x, bool isSigned, int32_t zeroPoint, float* HWY_RESTRICT to,
                 int64_t count) {
  if (isSigned)
    for (int64_t i = 0; i < count; ++i) to[i] = static_cast<float>(static_cast<int8_t>(x[i]) - zeroPoint);
  else
    for (int64_t i = 0; i < count; ++i) to[i] = static_cast<float>(x[i] - zeroPoint);
}

void convertAll(const float* HWY_RESTRICT sums, int32_t* HWY_RESTRICT y, int64_t count) {
  for (int64_t i = 0; i < count; ++i) y[i] = static_cast<int32_t>(sums[i]);
}

void quantizeAll(const float* HWY_RESTRICT sums, const OutputEnd& end, uint8_t* HWY_RESTRICT y, int64_t count) {
  const int32_t low = end.target.isSigned ? -128 : 0, zeroPoint = end.target.zeroPoint;
  const auto least = static_cast<float>(low - zeroPoint), greatest = static_cast<float>(low + 255 - zeroPoint);
  const float multiplier = end.multiplier;
  const auto bias = static_cast<uint32_t>(end.bias);
  for (int64_t i = 0; i < count; ++i) {
    const uint32_t whole = static_cast<uint32_t>(static_cast<int32_t>(sums[i])) + bias;  // it wraps
    const float value = static_cast<float>(static_cast<int32_t>(whole)) * multiplier;
    const float above = value > least ? value : least;  // the least for NaN
    const float within = above < greatest ? above : greatest;
    // A float of this magnitude becomes whole when 1.5 * 2^23 is added: its unit is the last bit of the sum.
    y[i] = static_cast<uint8_t>(static_cast<int32_t>((within + 0x1.8p23f) - 0x1.8p23f) + zeroPoint);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace opkit::ops::integer_conv
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opkit::ops::integer_conv {
HWY_EXPORT(subtractAll);
HWY_EXPORT(convertAll);
HWY_EXPORT(quantizeAll);
void differences(const uint8_t* x, bool isSigned, int32_t zeroPoint, float* to, int64_t count) {
  HWY_DYNAMIC_DISPATCH(subtractAll)(x, isSigned, zeroPoint, to, count);
}
void storeSums(const float* sums, int32_t* y, int64_t count) { HWY_DYNAMIC_DISPATCH(convertAll)(sums, y, count); }
void storeQuantized(const float* sums, const OutputEnd& end, uint8_t* y, int64_t count) {
  HWY_DYNAMIC_DISPATCH(quantizeAll)(sums, end, y, count);
}
}  // namespace opkit::ops::integer_conv
#endif
