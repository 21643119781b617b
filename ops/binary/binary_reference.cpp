// The oracle of the binary family: its rows define the operators. They share nothing with the kernels' expressions in
// binary_table.h, and are written differently where the definition allows.
#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/op/oracle_elements.h"
#include "ops/binary/binary.h"

namespace opkit::ops::binary {
namespace {

using Wide = __int128;  // holds any int64 and any uint64; results wrap when they are stored

/// The low 64 bits of the product are right.
Wide product(Wide x, Wide y) {
  return static_cast<Wide>(static_cast<unsigned __int128>(x) * static_cast<unsigned __int128>(y));
}

/// x^y, its low 64 bits: square for each bit of y, highest first. Fractions are truncated, so 0^-1 is 0.
Wide power(Wide x, Wide y) {
  if (y < 0 && x != 1 && x != -1) return 0;
  uint64_t result = 1;
  for (Wide bit = Wide(1) << 64; bit > 0; bit /= 2) {
    result *= result;
    if (((y < 0 ? -y : y) & bit) != 0) result *= static_cast<uint64_t>(x);
  }
  return static_cast<int64_t>(result);
}

struct Row {
  const char* name;
  const char* formula;
  double (*real)(double x, double y);
  Wide (*integer)(Wide x, Wide y);
};

std::vector<Row> makeRows() {
  std::vector<Row> rows;
#define ON(T, value) [](T x, T y) -> T { return static_cast<void>(x), static_cast<void>(y), value; }
#define ORACLE(Name, value, integerValue) \
  rows.push_back(                         \
      {#Name, std::string_view(#value) == "NAN" ? #integerValue : #value, ON(double, value), ON(Wide, integerValue)});
#define ORACLE_TEST(Name, value) ORACLE(Name, value, value)

  // ORACLE(Name, real, integer)  the value for x and y: on double; on integers that are exact. NAN, 0 where the
  // operator
  //                              does not take such elements
  // ORACLE_TEST(Name, value)     a truth, on both
  // clang-format off
  ORACLE(Add, y + x, y + x)
  ORACLE(Sub, x + -y, x + -y)
  ORACLE(Mul, y * x, product(y, x))
  ORACLE(Div, x / y, y == 0 ? 0 : x / y)
  ORACLE(Max, x != x || y != y ? NAN : x < y ? y : x, x > y ? x : y)
  ORACLE(Min, x != x || y != y ? NAN : y < x ? y : x, x > y ? y : x)
  ORACLE(Pow, static_cast<double>(std::pow(static_cast<long double>(x), static_cast<long double>(y))), power(x, y))
  ORACLE(Mod, NAN, y == 0 ? 0 : (x % y + y) % y)
  ORACLE(FMod, std::fmod(x, y), y == 0 ? 0 : x % y)
  ORACLE(PRelu, x >= 0 || std::isnan(x) ? x : y * x, x >= 0 ? x : product(y, x))
  ORACLE(ShiftLeft, NAN, product(x, power(2, y)))
  ORACLE(ShiftRight, NAN, y < 64 ? x / (Wide(1) << y) : 0)
  ORACLE(BitwiseAnd, NAN, x + y - (x | y))
  ORACLE(BitwiseOr, NAN, ~(~x & ~y))
  ORACLE(BitwiseXor, NAN, (x | y) - (x & y))

  ORACLE_TEST(Equal, x <= y && y <= x)
  ORACLE_TEST(Less, y > x)
  ORACLE_TEST(LessOrEqual, y >= x)
  ORACLE_TEST(Greater, y < x)
  ORACLE_TEST(GreaterOrEqual, y <= x)

  ORACLE_TEST(And, !(x == 0 || y == 0))
  ORACLE_TEST(Or, !(x == 0 && y == 0))
  ORACLE_TEST(Xor, (x == 0) == (y != 0))

  // clang-format on
  return rows;
}

/// An integer element, exact.
Wide wideAt(const OracleTensor& tensor, size_t i) {
  return tensor.desc.dtype == DType::UInt64 ? Wide(static_cast<uint64_t>(tensor.integer[i])) : Wide(tensor.integer[i]);
}

/// Elements of any kind as double: for Pow with an exponent of another type.
double realAt(const OracleTensor& tensor, size_t i) {
  return tensor.isReal() ? tensor.real[i] : static_cast<double>(wideAt(tensor, i));
}

/// Towards zero into int64; NaN is 0.
int64_t truncateToInteger(double value) {
  if (std::isnan(value)) return 0;
  if (value >= 0x1p63) return std::numeric_limits<int64_t>::max();
  if (value < -0x1p63) return std::numeric_limits<int64_t>::min();
  return static_cast<int64_t>(value);
}

/// One element pair, stored into the output. Truths are stored as 0 and 1.
void apply(const Row& row, const OracleArgs& args, size_t i, size_t ix, size_t iy) {
  const OracleTensor &x = args.input(0), &y = args.input(1);
  OracleTensor& z = args.output();
  if (!x.isReal() && !y.isReal()) {
    z.integer[i] = static_cast<int64_t>(row.integer(wideAt(x, ix), wideAt(y, iy)));
    return;
  }
  const double value = row.real(realAt(x, ix), realAt(y, iy));
  if (z.isReal())
    z.real[i] = value;
  else
    z.integer[i] = truncateToInteger(value);
}

/// The shape of y with its first axis at the axis of x that the parameters name, if they do.
Shape placedShape(const BinaryParamsT& params, const Shape& x, Shape y) {
  if (!params.axis) return y;
  while (axisFromFront(*params.axis, x.size()) + y.size() < x.size()) y.push_back(1);
  return y;
}

/// A clamp is of the result in f32: a product that is too small for it is -0 or 0, and a bound of 0 leaves it.
void keepSignsOfVanishing(OracleTensor& z) {
  if (z.desc.dtype != DType::Float32) return;
  for (double& value : z.real)
    if (static_cast<float>(value) == 0) value = std::copysign(0.0, value);
}

Status reference(const Row& row, const OracleArgs& args) {
  const auto params = args.params<BinaryParams>();
  const Shape& x = args.input(0).shape();
  const Shape y = placedShape(params, x, args.input(1).shape());
  forEachCoordinates(args.output().shape(), [&](size_t i, const Coordinates& at) {
    apply(row, args, i, broadcastElementAt(x, at), broadcastElementAt(y, at));
  });
  keepSignsOfVanishing(args.output());
  clampReals(args.output(), params.clamp_low, params.clamp_high);
  return Status::ok();
}

}  // namespace

Oracle oracleOf(std::string_view type) {
  static const std::vector<Row> rows = makeRows();
  const auto row = std::ranges::find(rows, type, &Row::name);
  OPKIT_CHECK(row != rows.end());
  return {row->formula, [&row = *row](const OracleArgs& args) { return reference(row, args); }};
}

}  // namespace opkit::ops::binary
