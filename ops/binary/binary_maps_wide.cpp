// Plain loops that the compiler turns into vectors of each instruction set: each functor is inlined, and strides are
// constants. Integers wrap.
#include "ops/binary/binary_maps.h"

#include <algorithm>
#include <type_traits>

#include "ops/binary/binary_quotients_wide.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/binary/binary_maps_wide.cpp"
#include "engine/backend/cpu/foreach_target.h"

HWY_BEFORE_NAMESPACE();
namespace opkit::ops::binary::maps {  // of its own: other sources have functors of these names
namespace HWY_NAMESPACE {

template <class T>
using Wrapping = std::make_unsigned_t<T>;
/// At least 32 bits, so that products do not become signed.
template <class T>
using Wide = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;

struct Add {
  template <class T>
  T operator()(T x, T y) const {
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(static_cast<Wrapping<T>>(x) + static_cast<Wrapping<T>>(y));
    else
      return x + y;
  }
};
struct Sub {
  template <class T>
  T operator()(T x, T y) const {
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(static_cast<Wrapping<T>>(x) - static_cast<Wrapping<T>>(y));
    else
      return x - y;
  }
};
struct Mul {
  template <class T>
  T operator()(T x, T y) const {
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(static_cast<Wide<T>>(x) * static_cast<Wide<T>>(y));
    else
      return x * y;
  }
};
/// The first operand wins if it is NaN or equal.
struct Max {
  template <class T>
  T operator()(T x, T y) const {
    return x != x || x >= y ? x : y;
  }
};
struct Min {
  template <class T>
  T operator()(T x, T y) const {
    return x != x || x <= y ? x : y;
  }
};
struct PRelu {
  template <class T>
  T operator()(T x, T y) const {
    const T product = Mul()(x, y);
    return x < T(0) ? product : x;
  }
};

struct Div {
  double operator()(double x, double y) const { return x / y; }
};
struct ShiftLeft {
  template <class T>
  T operator()(T x, T y) const {
    return y < 8 * sizeof(T) ? static_cast<T>(static_cast<uint64_t>(x) << y) : T(0);
  }
};
struct ShiftRight {
  template <class T>
  T operator()(T x, T y) const {
    return y < 8 * sizeof(T) ? static_cast<T>(x >> y) : T(0);
  }
};

#define SIMPLE(Name, value)           \
  struct Name {                       \
    template <class T>                \
    auto operator()(T x, T y) const { \
      return value;                   \
    }                                 \
  };
SIMPLE(BitwiseAnd, static_cast<T>(x& y))
SIMPLE(BitwiseOr, static_cast<T>(x | y))
SIMPLE(BitwiseXor, static_cast<T>(x ^ y))
SIMPLE(Equal, static_cast<uint8_t>(x == y))
SIMPLE(Less, static_cast<uint8_t>(x < y))
SIMPLE(LessOrEqual, static_cast<uint8_t>(x <= y))
SIMPLE(Greater, static_cast<uint8_t>(x > y))
SIMPLE(GreaterOrEqual, static_cast<uint8_t>(x >= y))
SIMPLE(And, static_cast<uint8_t>((x != 0) & (y != 0)))
SIMPLE(Or, static_cast<uint8_t>((x != 0) | (y != 0)))
SIMPLE(Xor, static_cast<uint8_t>((x != 0) ^ (y != 0)))
#undef SIMPLE

template <class F, class T, int kXStride, int kYStride, class Z>
void mapRun(const T* x, const T* y, Z* z, int64_t count) {
  const F function;
  for (int64_t i = 0; i < count; ++i) z[i] = function(x[i * kXStride], y[i * kYStride]);
}

template <class F, class T>
void mapAll(const void* x, int64_t xStride, const void* y, int64_t yStride, void* z, int64_t count) {
  using Z = decltype(F()(T(), T()));
  const T *from = static_cast<const T*>(x), *other = static_cast<const T*>(y);
  auto* to = static_cast<Z*>(z);
  if (xStride != 0 && yStride != 0) return mapRun<F, T, 1, 1>(from, other, to, count);
  // Copies of the repeated operand: the output may not be it, but the compiler cannot know.
  if (xStride != 0) {
    const T repeated = *other;
    return mapRun<F, T, 1, 0>(from, &repeated, to, count);
  }
  const T repeated = *from;
  if (yStride != 0) return mapRun<F, T, 0, 1>(&repeated, other, to, count);
  std::fill_n(to, count, F()(repeated, *other));
}

template <class F>
TypedMap ofIntegers(DType dtype) {
  switch (dtype) {
    case DType::Int8: return &mapAll<F, int8_t>;
    case DType::UInt8: return &mapAll<F, uint8_t>;
    case DType::Int16: return &mapAll<F, int16_t>;
    case DType::UInt16: return &mapAll<F, uint16_t>;
    case DType::Int32: return &mapAll<F, int32_t>;
    case DType::UInt32: return &mapAll<F, uint32_t>;
    case DType::Int64: return &mapAll<F, int64_t>;
    case DType::UInt64: return &mapAll<F, uint64_t>;
    default: return nullptr;
  }
}
template <class F>
TypedMap ofUnsigned(DType dtype) {
  switch (dtype) {
    case DType::UInt8: return &mapAll<F, uint8_t>;
    case DType::UInt16: return &mapAll<F, uint16_t>;
    case DType::UInt32: return &mapAll<F, uint32_t>;
    case DType::UInt64: return &mapAll<F, uint64_t>;
    default: return nullptr;
  }
}
template <class F>
TypedMap ofNumbers(DType dtype) {
  return dtype == DType::Float64 ? &mapAll<F, double> : ofIntegers<F>(dtype);
}
template <class F>
TypedMap ofAll(DType dtype) {
  if (dtype == DType::Bool) return &mapAll<F, uint8_t>;
  return dtype == DType::Float32 ? &mapAll<F, float> : ofNumbers<F>(dtype);
}
template <class F>
TypedMap ofBool(DType dtype) {
  return dtype == DType::Bool ? &mapAll<F, uint8_t> : nullptr;
}
TypedMap ofQuotients(DType dtype) { return dtype == DType::Float64 ? &mapAll<Div, double> : nullptr; }

struct Row {
  std::string_view type;
  TypedMap (*find)(DType dtype);
};
constexpr Row kRows[] = {{"Add", ofNumbers<Add>},
                         {"Sub", ofNumbers<Sub>},
                         {"Mul", ofNumbers<Mul>},
                         {"Div", ofQuotients},
                         {"Max", ofNumbers<Max>},
                         {"Min", ofNumbers<Min>},
                         {"PRelu", ofNumbers<PRelu>},
                         {"ShiftLeft", ofUnsigned<ShiftLeft>},
                         {"ShiftRight", ofUnsigned<ShiftRight>},
                         {"BitwiseAnd", ofIntegers<BitwiseAnd>},
                         {"BitwiseOr", ofIntegers<BitwiseOr>},
                         {"BitwiseXor", ofIntegers<BitwiseXor>},
                         {"Equal", ofAll<Equal>},
                         {"Less", ofAll<Less>},
                         {"LessOrEqual", ofAll<LessOrEqual>},
                         {"Greater", ofAll<Greater>},
                         {"GreaterOrEqual", ofAll<GreaterOrEqual>},
                         {"And", ofBool<And>},
                         {"Or", ofBool<Or>},
                         {"Xor", ofBool<Xor>}};

TypedMap find(std::string_view type, DType dtype) {
  for (const Row& row : kRows)
    if (row.type == type) return row.find(dtype);
  return nullptr;
}

}  // namespace HWY_NAMESPACE
}  // namespace opkit::ops::binary::maps
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opkit::ops::binary {
namespace maps {
HWY_EXPORT(find);
TypedMap findBest(std::string_view type, DType dtype) { return HWY_DYNAMIC_DISPATCH(find)(type, dtype); }
}  // namespace maps
TypedMap typedMapOf(std::string_view type, DType dtype) {
  const TypedMap map = quotientMapOf(type, dtype);
  return map ? map : maps::findBest(type, dtype);
}
}  // namespace opkit::ops::binary
#endif
