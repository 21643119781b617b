#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/op/clamp.h"
#include "ops/binary/binary.h"

namespace opkit::ops::binary {
namespace {

constexpr DTypeSet kUnsigned{DType::UInt8, DType::UInt16, DType::UInt32, DType::UInt64};

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

/// Elements of any kind as double: for Pow with an exponent of another type.
double realAt(const OracleTensor& tensor, size_t i) {
  if (tensor.isReal()) return tensor.real[i];
  return tensor.desc.dtype == DType::UInt64 ? static_cast<double>(static_cast<uint64_t>(tensor.integer[i]))
                                            : static_cast<double>(tensor.integer[i]);
}

/// Towards zero into int64; NaN is 0.
int64_t truncateToInteger(double value) {
  if (std::isnan(value)) return 0;
  if (value >= 0x1p63) return std::numeric_limits<int64_t>::max();
  if (value < -0x1p63) return std::numeric_limits<int64_t>::min();
  return static_cast<int64_t>(value);
}

/// One element pair, stored into the output.
void apply(const Function& function, const OracleArgs& args, size_t i, size_t ix, size_t iy) {
  const OracleTensor &x = args.input(0), &y = args.input(1);
  OracleTensor& z = args.output();
  if (x.isReal() != y.isReal()) {
    const double value = function.real(realAt(x, ix), realAt(y, iy));
    if (z.isReal())
      z.real[i] = value;
    else
      z.integer[i] = truncateToInteger(value);
  } else if (x.isReal()) {
    const double value = function.real(x.real[ix], y.real[iy]);
    if (z.isReal())
      z.real[i] = value;
    else
      z.integer[i] = value != 0;
  } else if (x.desc.dtype == DType::UInt64) {
    z.integer[i] = static_cast<int64_t>(
        function.unsignedInteger(static_cast<uint64_t>(x.integer[ix]), static_cast<uint64_t>(y.integer[iy])));
  } else {
    z.integer[i] = function.integer(x.integer[ix], y.integer[iy]);
  }
}

Status reference(const Function& function, const OracleArgs& args) {
  const auto params = args.params<BinaryParams>();
  const Loops loops = loopsOf(params, args.input(0).shape(), args.input(1).shape());
  forEachElement(loops, [&](size_t i, const std::vector<int64_t>& at) {
    apply(function, args, i, static_cast<size_t>(at[0]), static_cast<size_t>(at[1]));
  });
  clampOf(params).apply(args.output().real);
  return Status::ok();
}

/// A function pointer on T, whose template body the table writes in terms of T, x and y.
#define ON(T_, value)                           \
  [](T_ x, T_ y) -> T_ {                        \
    using T [[maybe_unused]] = T_;              \
    static_cast<void>(x), static_cast<void>(y); \
    return static_cast<T>(value);               \
  }
#define ORACLE(Name) [](const OracleArgs& args) { return reference(functionOf(#Name), args); }

std::vector<Function> makeFunctions() {
  using Kind = Function::Kind;
  std::vector<Function> rows;
#define BINARY(rowId, Name, numericClass, types, low, high, realValue, integerValue, glsl, glslInteger) \
  rows.push_back({#Name,                                                                                \
                  rowId,                                                                                \
                  Kind::Arithmetic,                                                                     \
                  NumericClass::numericClass,                                                           \
                  types,                                                                                \
                  {low, high},                                                                          \
                  std::string_view(#realValue) == "NAN" ? #integerValue : #realValue,                   \
                  ON(double, realValue),                                                                \
                  ON(int64_t, integerValue),                                                            \
                  ON(uint64_t, integerValue),                                                           \
                  ORACLE(Name)});
#define COMPARE(rowId, Name, types, value) \
  rows.push_back({#Name,                   \
                  rowId,                   \
                  Kind::Compare,           \
                  NumericClass::Exact,     \
                  types,                   \
                  {-4, 4},                 \
                  #value,                  \
                  ON(double, value),       \
                  ON(int64_t, value),      \
                  ON(uint64_t, value),     \
                  ORACLE(Name)});
#define LOGIC(rowId, Name, value)      \
  rows.push_back({#Name,               \
                  rowId,               \
                  Kind::Logic,         \
                  NumericClass::Exact, \
                  kBool,               \
                  {},                  \
                  #value,              \
                  ON(double, value),   \
                  ON(int64_t, value),  \
                  ON(uint64_t, value), \
                  ORACLE(Name)});
#include "ops/binary/binary_table.h"
  return rows;
}

}  // namespace

std::span<const Function> functions() {
  static const std::vector<Function> rows = makeFunctions();
  return rows;
}

const Function& functionOf(std::string_view type) {
  const auto rows = functions();
  const auto found = std::find_if(rows.begin(), rows.end(), [&](const Function& row) { return row.name == type; });
  OPKIT_CHECK(found != rows.end());
  return *found;
}

}  // namespace opkit::ops::binary
