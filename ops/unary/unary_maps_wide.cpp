// Plain loops that the compiler turns into vectors of each instruction set: each functor is inlined. Integers wrap.
#include "ops/unary/unary_maps.h"

#include <cmath>
#include <limits>
#include <type_traits>

#include "ops/unary/unary_double_vectors.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/unary/unary_maps_wide.cpp"
#include "engine/backend/cpu/foreach_target.h"

HWY_BEFORE_NAMESPACE();
namespace opkit::ops::unary::maps {  // of its own: other sources have functors of these names
namespace HWY_NAMESPACE {

/// -x, without overflow.
template <class T>
T negated(T x) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(std::make_unsigned_t<T>(0) - static_cast<std::make_unsigned_t<T>>(x));
  else
    return -x;
}
template <class T>
T absolute(T x) {
  if constexpr (std::is_floating_point_v<T>)
    return std::fabs(x);
  else
    return x < 0 ? negated(x) : x;
}
/// Into [0, 1], without branches.
double limited(double x) {
  const double above = x < 0 ? 0 : x;
  return above > 1 ? 1 : above;
}

#define FUNCTION(Name, value)                                                       \
  struct Name {                                                                     \
    template <class T>                                                              \
    T operator()(T x, [[maybe_unused]] double a, [[maybe_unused]] double b) const { \
      return value;                                                                 \
    }                                                                               \
  };
FUNCTION(Relu, x < T(0) ? T(0) : x)
FUNCTION(Abs, absolute(x))
FUNCTION(Neg, negated(x))
FUNCTION(Sign, x > T(0) ? T(1) : x < T(0) ? static_cast<T>(-1) : x)
FUNCTION(ThresholdedRelu, x <= a ? 0 : x)
FUNCTION(Clip, x<a ? (a < b ? a : b) : x> b ? b : x)
FUNCTION(HardSigmoid, limited(a* x + b))
FUNCTION(Reciprocal, 1 / x)
FUNCTION(Softsign, x / (1 + std::fabs(x)))
#undef FUNCTION

struct IsNaN {
  template <class T>
  uint8_t operator()(T x, double, double) const {
    return x != x;
  }
};
/// a and b say whether +Inf and -Inf count.
struct IsInf {
  template <class T>
  uint8_t operator()(T x, double a, double b) const {
    constexpr T kInfinity = std::numeric_limits<T>::infinity();
    return ((x == kInfinity) & (a != 0)) | ((x == -kInfinity) & (b != 0));
  }
};

template <class F, class T>
void mapAll(const void* x, void* y, int64_t count, double a, double b) {
  using Y = decltype(F()(T(), a, b));
  const F function;
  const T* from = static_cast<const T*>(x);
  auto* to = static_cast<Y*>(y);
  for (int64_t i = 0; i < count; ++i) to[i] = function(from[i], a, b);
}

template <class F>
TypedMap ofDoubles(DType dtype) {
  return dtype == DType::Float64 ? &mapAll<F, double> : nullptr;
}
template <class F>
TypedMap ofFloats(DType dtype) {
  return dtype == DType::Float32 ? &mapAll<F, float> : ofDoubles<F>(dtype);
}
template <class F>
TypedMap ofNumbers(DType dtype) {
  switch (dtype) {
    case DType::Int8: return &mapAll<F, int8_t>;
    case DType::UInt8: return &mapAll<F, uint8_t>;
    case DType::Int16: return &mapAll<F, int16_t>;
    case DType::UInt16: return &mapAll<F, uint16_t>;
    case DType::Int32: return &mapAll<F, int32_t>;
    case DType::UInt32: return &mapAll<F, uint32_t>;
    case DType::Int64: return &mapAll<F, int64_t>;
    case DType::UInt64: return &mapAll<F, uint64_t>;
    default: return ofDoubles<F>(dtype);
  }
}

struct Row {
  std::string_view type;
  TypedMap (*find)(DType dtype);
};
constexpr Row kRows[] = {{"Relu", ofNumbers<Relu>},
                         {"Abs", ofNumbers<Abs>},
                         {"Neg", ofNumbers<Neg>},
                         {"Sign", ofNumbers<Sign>},
                         {"ThresholdedRelu", ofDoubles<ThresholdedRelu>},
                         {"Clip", ofDoubles<Clip>},
                         {"HardSigmoid", ofDoubles<HardSigmoid>},
                         {"Reciprocal", ofDoubles<Reciprocal>},
                         {"Softsign", ofDoubles<Softsign>},
                         {"IsNaN", ofFloats<IsNaN>},
                         {"IsInf", ofFloats<IsInf>}};

TypedMap find(std::string_view type, DType dtype) {
  for (const Row& row : kRows)
    if (row.type == type) return row.find(dtype);
  return nullptr;
}

}  // namespace HWY_NAMESPACE
}  // namespace opkit::ops::unary::maps
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opkit::ops::unary {
namespace maps {
HWY_EXPORT(find);
TypedMap findBest(std::string_view type, DType dtype) { return HWY_DYNAMIC_DISPATCH(find)(type, dtype); }
}  // namespace maps
TypedMap typedMapOf(std::string_view type, DType dtype) {
  const TypedMap map = dtype == DType::Float64 ? doubleMapOf(type) : nullptr;
  return map ? map : maps::findBest(type, dtype);
}
}  // namespace opkit::ops::unary
#endif
