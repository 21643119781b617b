// Plain loops that the compiler turns into vectors of each instruction set. Quotients are taken in float or double
// where these hold the operands: a quotient of whole numbers below 2^24 or 2^52 is never so close below a whole number
// that it rounds up to it. Runs with larger operands are divided one by one.
#include "ops/binary/binary_quotients_wide.h"

#include <cmath>
#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/binary/binary_quotients_wide.cpp"
#include "engine/backend/cpu/foreach_target.h"

HWY_BEFORE_NAMESPACE();
namespace opkit::ops::binary::quotients {  // of its own: other sources have functors of these names
namespace HWY_NAMESPACE {

constexpr int64_t kRun = 256;  // elements that are looked at together

/// At least 32 bits, so that products do not become signed.
template <class T>
using Wide = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;

template <class T>
T difference(T x, T y) {
  return static_cast<T>(static_cast<Wide<T>>(x) - static_cast<Wide<T>>(y));
}
template <class T>
T product(T x, T y) {
  return static_cast<T>(static_cast<Wide<T>>(x) * static_cast<Wide<T>>(y));
}

/// Divisors that need no care: neither 0 nor the -1 whose one quotient overflows.
template <class T>
bool isPlain(T y) {
  return y != T(0) && (std::is_unsigned_v<T> || y != static_cast<T>(-1));
}

/// x / y towards zero for plain y.
struct RealQuotient {
  template <class T>
  T operator()(T x, T y) const {
    if constexpr (sizeof(T) == 4)
      return static_cast<T>(static_cast<double>(x) / static_cast<double>(y));
    else
      return static_cast<T>(static_cast<int64_t>(static_cast<double>(static_cast<int64_t>(x)) /
                                                 static_cast<double>(static_cast<int64_t>(y))));
  }
};
struct WholeQuotient {
  template <class T>
  T operator()(T x, T y) const {
    return static_cast<T>(x / y);
  }
};

/// Of integers of at most 17 bits. The members `small` have no branches, not even short ones.
HWY_INLINE int32_t smallQuotient(int32_t x, int32_t y) {
  return static_cast<int32_t>(static_cast<float>(x) / static_cast<float>(y));
}

/// Towards zero; by zero is 0; the one quotient that overflows wraps. `Quotient` divides by plain divisors.
struct Div {
  template <class T, class Quotient>
  T operator()(T x, T y, Quotient quotient) const {
    const T careful = y == T(0) ? T(0) : difference(T(0), x), plain = quotient(x, isPlain(y) ? y : T(1));
    return isPlain(y) ? plain : careful;
  }
  int32_t small(int32_t x, int32_t y) const {
    const int32_t isZero = y == 0;
    return smallQuotient(x, y + isZero) & (isZero - 1);
  }
};
/// Sign of x; by zero is 0.
struct FMod {
  template <class T, class Quotient>
  T operator()(T x, T y, Quotient quotient) const {
    const T by = isPlain(y) ? y : T(1), rest = difference(x, product(quotient(x, by), by));
    return isPlain(y) ? rest : T(0);
  }
  int32_t small(int32_t x, int32_t y) const {
    const int32_t by = y + static_cast<int32_t>(y == 0);  // by 1 nothing is left
    return x - smallQuotient(x, by) * by;
  }
};
/// Sign of y; by zero is 0.
struct Mod {
  template <class T, class Quotient>
  T operator()(T x, T y, Quotient quotient) const {
    const T rest = FMod()(x, y, quotient);
    const bool isOther = (rest != T(0)) & ((rest < T(0)) != (y < T(0)));
    return isOther ? static_cast<T>(rest + y) : rest;
  }
  int32_t small(int32_t x, int32_t y) const {
    const int32_t rest = FMod().small(x, y), isOther = static_cast<int32_t>(rest != 0) & ((rest ^ y) < 0);
    return rest + (y & -isOther);
  }
};

/// Whether double holds the operands of a run and their quotients; always for types of up to 32 bits.
template <class T>
bool isExact(const T* x, const T* y, int64_t xCount, int64_t yCount) {
  if constexpr (sizeof(T) < 8) return true;
  constexpr uint64_t kOffset = std::is_signed_v<T> ? uint64_t{1} << 52 : 0;
  constexpr int kBits = std::is_signed_v<T> ? 53 : 52;
  uint64_t beyond = 0;
  for (int64_t i = 0; i < xCount; ++i) beyond |= (static_cast<uint64_t>(x[i]) + kOffset) >> kBits;
  for (int64_t i = 0; i < yCount; ++i) beyond |= (static_cast<uint64_t>(y[i]) + kOffset) >> kBits;
  return beyond == 0;
}

template <class F>
struct Quotients {
  template <int kXStride, int kYStride, class T>
  static void run(const T* x, const T* y, T* z, int64_t count) {
    if constexpr (sizeof(T) <= 2) return runSmall<kXStride, kYStride>(x, y, z, count);
    const F function;
    if (isExact(x, y, kXStride == 0 ? 1 : count, kYStride == 0 ? 1 : count))
      for (int64_t i = 0; i < count; ++i) z[i] = function(x[i * kXStride], y[i * kYStride], RealQuotient());
    else
      for (int64_t i = 0; i < count; ++i) z[i] = function(x[i * kXStride], y[i * kYStride], WholeQuotient());
  }

 private:
  /// In 32 bits, which hold every quotient and rest: loops on elements of one size become vectors.
  template <int kXStride, int kYStride, class T>
  static void runSmall(const T* x, const T* y, T* z, int64_t count) {
    const F function;
    int32_t xs[kRun], ys[kRun];
    for (int64_t i = 0; i < count; ++i) xs[i] = x[i * kXStride];
    for (int64_t i = 0; i < count; ++i) ys[i] = y[i * kYStride];
    for (int64_t i = 0; i < count; ++i) xs[i] = function.small(xs[i], ys[i]);
    for (int64_t i = 0; i < count; ++i) z[i] = static_cast<T>(xs[i]);
  }
};

/// Powers of whole numbers, modulo 2^64, by repeated squaring of a run at once. A negative exponent gives the
/// reciprocal towards zero, and 0 for 0.
struct Powers {
  template <int kXStride, int kYStride, class T>
  static void run(const T* x, const T* y, T* z, int64_t count) {
    using W = Wide<T>;
    W base[kRun], rest[kRun], result[kRun], all = 0;
    for (int64_t i = 0; i < count; ++i) {
      const T exponent = y[i * kYStride];
      base[i] = static_cast<W>(x[i * kXStride]);
      rest[i] = exponent < T(0) ? W(0) : static_cast<W>(exponent);
      result[i] = exponent < T(0) ? reciprocal<W>(base[i], static_cast<W>(exponent)) : W(1);
      all |= rest[i];
    }
    for (; all != 0; all >>= 1) {
      for (int64_t i = 0; i < count; ++i) {
        const W factor = rest[i] & 1 ? base[i] : W(1);
        result[i] *= factor;
        base[i] *= base[i];
        rest[i] >>= 1;
      }
    }
    for (int64_t i = 0; i < count; ++i) z[i] = static_cast<T>(result[i]);
  }

 private:
  template <class W>
  static W reciprocal(W base, W exponent) {
    constexpr W kMinusOne = static_cast<W>(-1);
    const W odd = exponent & 1 ? kMinusOne : W(1), ofUnit = base == kMinusOne ? odd : W(0);
    return base == W(1) ? W(1) : ofUnit;
  }
};

/// The rest of a quotient towards zero, with the sign of x. Below 2^52 the quotient is off by one at most; then both
/// the product with y and the difference are exact in one fused operation. Others go through the C library.
struct Rests {
  template <int kXStride, int kYStride>
  static void run(const double* x, const double* y, double* z, int64_t count) {
    int beyond = HWY_TARGET > HWY_AVX2;  // without fused operations
    for (int64_t i = 0; i < count; ++i) {
      const double by = std::fabs(y[i * kYStride]), most = by < 0x1p1020 ? by * 0x1p50 : 0.0;
      beyond |= static_cast<int>(!(std::fabs(x[i * kXStride]) < most));
    }
    if (beyond != 0) {
      for (int64_t i = 0; i < count; ++i) z[i] = std::fmod(x[i * kXStride], y[i * kYStride]);
      return;
    }
    for (int64_t i = 0; i < count; ++i) {
      const double from = x[i * kXStride], by = y[i * kYStride];
      const double rest = std::fma(-std::trunc(from / by), by, from);
      // If the quotient is past the right one, the rest has the other sign.
      const double kept = std::copysign(1.0, from) * rest, more = kept + std::fabs(by);
      z[i] = std::copysign(kept < 0 ? more : kept, from);
    }
  }
};

/// Of floats: products of a quotient below 2^29 with 24 bits are exact in double, and so is the rest.
struct FloatRests {
  template <int kXStride, int kYStride>
  static void run(const float* x, const float* y, float* z, int64_t count) {
    int beyond = 0;
    for (int64_t i = 0; i < count; ++i) {
      const double by = std::fabs(static_cast<double>(y[i * kYStride]));
      const double most = by < 0x1p200 ? by * 0x1p28 : 0.0;  // of an infinity or a NaN: none
      beyond |= static_cast<int>(!(std::fabs(static_cast<double>(x[i * kXStride])) < most));
    }
    if (beyond != 0) {
      for (int64_t i = 0; i < count; ++i) z[i] = std::fmod(x[i * kXStride], y[i * kYStride]);
      return;
    }
    for (int64_t i = 0; i < count; ++i) {
      const double from = x[i * kXStride], by = y[i * kYStride];
      const double rest = from - static_cast<double>(static_cast<int32_t>(from / by)) * by;
      // If the quotient is past the right one, the rest has the other sign.
      const double kept = std::copysign(1.0, from) * rest, more = kept + std::fabs(by);
      z[i] = std::copysign(static_cast<float>(kept < 0 ? more : kept), x[i * kXStride]);
    }
  }
};

template <class Runs, class T>
void mapAll(const void* x, int64_t xStride, const void* y, int64_t yStride, void* z, int64_t count) {
  const T *from = static_cast<const T*>(x), *other = static_cast<const T*>(y);
  T* to = static_cast<T*>(z);
  // Copies of repeated operands: the output may not be one, but the compiler cannot know.
  const T first = count > 0 ? *from : T(0), second = count > 0 ? *other : T(0);
  for (int64_t i = 0; i < count; i += kRun) {
    const int64_t length = count - i < kRun ? count - i : kRun;
    if (xStride != 0 && yStride != 0)
      Runs::template run<1, 1>(from + i, other + i, to + i, length);
    else if (xStride != 0)
      Runs::template run<1, 0>(from + i, &second, to + i, length);
    else if (yStride != 0)
      Runs::template run<0, 1>(&first, other + i, to + i, length);
    else
      Runs::template run<0, 0>(&first, &second, to + i, length);
  }
}

template <class Runs>
TypedMap ofIntegers(DType dtype) {
  switch (dtype) {
    case DType::Int8: return &mapAll<Runs, int8_t>;
    case DType::UInt8: return &mapAll<Runs, uint8_t>;
    case DType::Int16: return &mapAll<Runs, int16_t>;
    case DType::UInt16: return &mapAll<Runs, uint16_t>;
    case DType::Int32: return &mapAll<Runs, int32_t>;
    case DType::UInt32: return &mapAll<Runs, uint32_t>;
    case DType::Int64: return &mapAll<Runs, int64_t>;
    case DType::UInt64: return &mapAll<Runs, uint64_t>;
    default: return nullptr;
  }
}

TypedMap find(std::string_view type, DType dtype) {
  if (type == "Div") return ofIntegers<Quotients<Div>>(dtype);
  if (type == "Mod") return ofIntegers<Quotients<Mod>>(dtype);
  if (type == "Pow") return ofIntegers<Powers>(dtype);
  if (type != "FMod") return nullptr;
  if (dtype == DType::Float32) return &mapAll<FloatRests, float>;
  return dtype == DType::Float64 ? &mapAll<Rests, double> : ofIntegers<Quotients<FMod>>(dtype);
}

}  // namespace HWY_NAMESPACE
}  // namespace opkit::ops::binary::quotients
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opkit::ops::binary {
namespace quotients {
HWY_EXPORT(find);
TypedMap findBest(std::string_view type, DType dtype) { return HWY_DYNAMIC_DISPATCH(find)(type, dtype); }
}  // namespace quotients
TypedMap quotientMapOf(std::string_view type, DType dtype) { return quotients::findBest(type, dtype); }
}  // namespace opkit::ops::binary
#endif
