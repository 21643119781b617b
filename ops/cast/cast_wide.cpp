// Plain loops that the compiler turns into vectors of each instruction set.
#include "ops/cast/cast_wide.h"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "engine/tensor/tensor.h"
#include "ops/cast/cast.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/cast/cast_wide.cpp"
#include "engine/backend/cpu/foreach_target.h"

HWY_BEFORE_NAMESPACE();
namespace opkit::ops::cast {
namespace HWY_NAMESPACE {

constexpr int64_t kRun = 512;  // elements that are looked at together

/// Loops of their own, so that the compiler knows that input and output do not overlap.
template <class To, class From>
void convertRun(const From* HWY_RESTRICT x, To* HWY_RESTRICT y, int64_t count) {
  for (int64_t i = 0; i < count; ++i) y[i] = static_cast<To>(x[i]);
}
template <class From>
void testRun(const From* HWY_RESTRICT x, uint8_t* HWY_RESTRICT y, int64_t count) {
  for (int64_t i = 0; i < count; ++i) y[i] = x[i] != 0;
}

/// By way of 32-bit integers, which processors convert by vectors, if these hold all values of a run.
template <class To, class From>
void truncateRun(const From* HWY_RESTRICT x, To* HWY_RESTRICT y, int64_t count) {
  for (int64_t first = 0; first < count; first += kRun) {
    const int64_t end = std::min(first + kRun, count);
    int beyond = 0;
    for (int64_t i = first; i < end; ++i) beyond |= !(std::fabs(x[i]) < From(0x1p31));
    if (beyond == 0)
      for (int64_t i = first; i < end; ++i) y[i] = static_cast<To>(static_cast<int32_t>(x[i]));
    else
      for (int64_t i = first; i < end; ++i)
        y[i] = static_cast<To>(truncated(static_cast<double>(x[i]), std::is_same_v<To, uint64_t>));
  }
}

template <class From>
void testAll(const void* x, void* y, int64_t count) {
  testRun(static_cast<const From*>(x), static_cast<uint8_t*>(y), count);
}
template <class From, class To>
void castAll(const void* x, void* y, int64_t count) {
  if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>)
    truncateRun(static_cast<const From*>(x), static_cast<To*>(y), count);
  else
    convertRun(static_cast<const From*>(x), static_cast<To*>(y), count);
}

template <class From>
CastMap findTo(DType to) {
  if (to == DType::Bool) return &testAll<From>;
  CastMap found = nullptr;
  visitDType(to, [&](auto tag) {
    if constexpr (!std::is_same_v<decltype(tag), Half>) found = &castAll<From, decltype(tag)>;
  });
  return found;
}

CastMap find(DType from, DType to) {
  CastMap found = nullptr;
  visitDType(from, [&](auto tag) {
    if constexpr (!std::is_same_v<decltype(tag), Half>) found = findTo<decltype(tag)>(to);
  });
  return found;
}

}  // namespace HWY_NAMESPACE
}  // namespace opkit::ops::cast
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opkit::ops::cast {
HWY_EXPORT(find);
CastMap castMapOf(DType from, DType to) {
  return isCoded(from) || isCoded(to) ? nullptr : HWY_DYNAMIC_DISPATCH(find)(from, to);
}
}  // namespace opkit::ops::cast
#endif
