// The oracle of the unary family: its rows define the operators. They share nothing with the kernels' expressions in
// unary_table.h, and are written differently where the definition allows.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "ops/unary/unary.h"

namespace opkit::ops::unary {
namespace {

using Real = long double;  // more digits than any kernel: rounding happens once, to double
using Wide = __int128;     // holds any int64 and any uint64; results wrap when they are stored

/// 1 / (1 + e^-x): the exponentials cannot overflow.
Real sigmoid(Real x) { return std::exp(std::min(x, Real(0))) / (1 + std::exp(-std::fabs(x))); }

/// x tanh(log(1 + w)) with w = e^x; beyond 40 the hyperbolic tangent is 1.
Real mish(Real x) {
  const Real w = std::exp(std::min(x, Real(40)));
  return x > 40 ? x : x * (w * (w + 2) / (w * (w + 2) + 2));
}

struct Row {
  const char* name;
  const char* formula;
  Real (*real)(Real x, Real a, Real b) = nullptr;
  bool (*test)(Real x, Real a, Real b) = nullptr;
  Wide (*integer)(Wide x) = nullptr;
};

std::vector<Row> makeRows() {
  std::vector<Row> rows;
#define ON_REALS(Result, value) [](Real x, [[maybe_unused]] Real a, [[maybe_unused]] Real b) -> Result { return value; }
#define ORACLE(Name, value) rows.push_back({.name = #Name, .formula = #value, .real = ON_REALS(Real, value)});
#define ORACLE_TEST(Name, value) rows.push_back({.name = #Name, .formula = #value, .test = ON_REALS(bool, value)});
#define ORACLE_INTEGER(Name, value) \
  std::ranges::find(rows, std::string_view(#Name), &Row::name)->integer = [](Wide x) -> Wide { return value; };

  // ORACLE(Name, value)          the value for x, on long double; a and b are the operator's coefficients. std::max and
  //                              std::min give their first operand if it is NaN
  // ORACLE_TEST(Name, value)     the same, a bool
  // ORACLE_INTEGER(Name, value)  the operator of a row above on integers
  // clang-format off
  // Piecewise linear
  ORACLE(Relu, std::max(x, Real(0)))
  ORACLE(LeakyRelu, x >= 0 || std::isnan(x) ? x : x * a)
  ORACLE(ThresholdedRelu, x > a || std::isnan(x) ? x : 0)
  ORACLE(Clip, std::min(std::max(x, a), b))
  ORACLE(HardSigmoid, std::min(std::max(a * x + b, Real(0)), Real(1)))
  ORACLE(HardSwish, x * (std::min(std::max(x + 3, Real(0)), Real(6)) / 6))
  ORACLE(Shrink, -x > a ? x + b : x > a ? x - b : std::isnan(x) ? x : 0)
  ORACLE(Abs, std::copysign(x, Real(1)))
  ORACLE(Neg, -1 * x)
  ORACLE(Sign, x == 0 || std::isnan(x) ? x : std::copysign(Real(1), x))
  ORACLE(Floor, -std::ceil(-x))
  ORACLE(Ceil, -std::floor(-x))
  ORACLE(Round, std::isinf(x) ? x : std::copysign(x - std::remainder(x, Real(1)), x))

  // Algebraic
  ORACLE(Sqrt, std::sqrt(x))
  ORACLE(Reciprocal, 1 / x)
  ORACLE(Softsign, x < 0 ? x / (1 - x) : x / (1 + x))

  // Exponential
  ORACLE(Exp, std::exp(x))
  ORACLE(Log, std::log(x))
  ORACLE(Sigmoid, sigmoid(x))
  ORACLE(Softplus, x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x)))
  ORACLE(Elu, std::max(x, Real(0)) + a * std::expm1(std::min(x, Real(0))))
  ORACLE(Selu, x > 0 ? b * x : b * a * std::expm1(x))
  ORACLE(Celu, std::max(x, Real(0)) + std::min(a * std::expm1(x / a), Real(0)))
  ORACLE(Mish, mish(x))
  ORACLE(Swish, x / (1 + std::exp(-a * x)))

  // Error function
  ORACLE(Erf, std::erf(x))
  ORACLE(Gelu, x / 2 * std::erfc(-x / std::sqrt(Real(2))))
  ORACLE(GeluTanh, x / (1 + std::exp(-2 * std::sqrt(2 / std::numbers::pi_v<Real>) * (x + Real(0.044715L) * (x * x * x)))))

  // Hyperbolic
  ORACLE(Tanh, std::tanh(x))
  ORACLE(Sinh, std::sinh(x))
  ORACLE(Cosh, std::cosh(x))
  ORACLE(Asinh, std::asinh(x))
  ORACLE(Acosh, std::acosh(x))
  ORACLE(Atanh, std::atanh(x))

  // Trigonometric
  ORACLE(Sin, std::sin(x))
  ORACLE(Cos, std::cos(x))
  ORACLE(Tan, std::sin(x) / std::cos(x))
  ORACLE(Asin, std::atan2(x, std::sqrt((1 - x) * (1 + x))))
  ORACLE(Acos, std::atan2(std::sqrt((1 - x) * (1 + x)), x))
  ORACLE(Atan, std::atan2(x, Real(1)))

  ORACLE_INTEGER(Relu, x > 0 ? x : 0)
  ORACLE_INTEGER(Abs, x > -x ? x : -x)
  ORACLE_INTEGER(Neg, 0 - x)
  ORACLE_INTEGER(Sign, (x > 0) - (x < 0))

  ORACLE_TEST(IsNaN, x != x)
  ORACLE_TEST(IsInf, (x == INFINITY && a != 0) || (x == -INFINITY && b != 0))

  // clang-format on
  return rows;
}

Status reference(const Row& row, const OracleArgs& args) {
  const auto [a, b] = coefficientsOf(functionOf(row.name), args.params<UnaryParams>());
  const OracleTensor& x = args.input(0);
  OracleTensor& y = args.output();
  const bool isUnsigned = x.desc.dtype == DType::UInt64;
  for (size_t i = 0; i < static_cast<size_t>(x.elements()); ++i) {
    if (row.test)
      y.integer[i] = row.test(x.real[i], a, b);
    else if (x.isReal())
      y.real[i] = static_cast<double>(row.real(x.real[i], a, b));
    else
      y.integer[i] = static_cast<int64_t>(
          row.integer(isUnsigned ? Wide(static_cast<uint64_t>(x.integer[i])) : Wide(x.integer[i])));
  }
  return Status::ok();
}

Status notReference(const OracleArgs& args) {
  for (size_t i = 0; i < args.input(0).integer.size(); ++i) args.output().integer[i] = !args.input(0).integer[i];
  return Status::ok();
}

}  // namespace

Oracle oracleOf(std::string_view type) {
  static const std::vector<Row> rows = makeRows();
  if (type == "Not") return {"!x", notReference};
  const auto row = std::ranges::find(rows, type, &Row::name);
  OPKIT_CHECK(row != rows.end());
  return {row->formula, [&row = *row](const OracleArgs& args) { return reference(row, args); }};
}

}  // namespace opkit::ops::unary
