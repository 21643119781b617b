#include "ops/binary/binary_scalars.h"

#include <cmath>
#include <type_traits>

namespace opkit::ops::binary {
namespace {

bool isNan(double x) { return std::isnan(x); }

template <class T>
bool isNegative(T x) {
  return x < T(0);
}

// Integer arithmetic that wraps instead of overflowing; T is int64_t or uint64_t.
template <class T>
T wrapAdd(T x, T y) {
  return static_cast<T>(static_cast<uint64_t>(x) + static_cast<uint64_t>(y));
}
template <class T>
T wrapSub(T x, T y) {
  return static_cast<T>(static_cast<uint64_t>(x) - static_cast<uint64_t>(y));
}
template <class T>
T wrapMul(T x, T y) {
  return static_cast<T>(static_cast<uint64_t>(x) * static_cast<uint64_t>(y));
}
/// Truncates; by zero is 0; the one quotient that overflows wraps.
template <class T>
T divide(T x, T y) {
  if (y == 0) return 0;
  if (std::is_signed_v<T> && y == static_cast<T>(-1)) return wrapSub(T(0), x);
  return x / y;
}
/// Sign of x; by zero is 0.
template <class T>
T remainder(T x, T y) {
  return wrapSub(x, wrapMul(divide(x, y), y)) * static_cast<T>(y != 0);
}
/// Sign of y; by zero is 0.
template <class T>
T floorModulo(T x, T y) {
  const T rest = remainder(x, y);
  return rest != 0 && (rest < T(0)) != (y < T(0)) ? rest + y : rest;
}
/// x^y with truncation towards zero for negative y (0^-1 is 0).
template <class T>
T integerPower(T x, T y) {
  if (y < T(0)) return x == 1 ? T(1) : x == static_cast<T>(-1) ? (y % 2 ? x : T(1)) : T(0);
  T result = 1;
  for (; y > 0; y /= 2, x = wrapMul(x, x))
    if (y % 2) result = wrapMul(result, x);
  return result;
}
template <class T>
T shiftLeft(T x, T y) {
  return y < 64 ? x << y : T(0);
}
template <class T>
T shiftRight(T x, T y) {
  return y < 64 ? x >> y : T(0);
}

/// A function pointer on T, whose template body the table writes in terms of T, x and y.
#define ON(T_, value)                           \
  [](T_ x, T_ y) -> T_ {                        \
    using T [[maybe_unused]] = T_;              \
    static_cast<void>(x), static_cast<void>(y); \
    return static_cast<T>(value);               \
  }
#define SCALARS(onReal, onInteger) \
  Scalars { ON(double, onReal), ON(int64_t, onInteger), ON(uint64_t, onInteger) }

}  // namespace

Scalars scalarsOf(std::string_view type) {
#define BINARY(id, Name, numericClass, types, low, high, cpu, cpuInteger, glsl, glslInteger) \
  if (type == #Name) return SCALARS(cpu, cpuInteger);
#define COMPARE(id, Name, types, value) \
  if (type == #Name) return SCALARS(value, value);
#define LOGIC(id, Name, value) \
  if (type == #Name) return SCALARS(value, value);
#include "ops/binary/binary_table.h"
  return {};
}

}  // namespace opkit::ops::binary
