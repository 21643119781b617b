#include <algorithm>
#include <cmath>

#include "ops/unary/unary.h"

namespace opkit::ops::unary {
namespace {

/// Clamps to [0, 1]; NaN stays.
double limit(double x) { return x < 0 ? 0 : x > 1 ? 1 : x; }
/// log(1 + e^x), without overflow.
double softplus(double x) { return (x < 0 ? 0 : x) + std::log1p(std::exp(-std::fabs(x))); }

Status reference(const Function& function, const OracleArgs& args) {
  const auto [a, b] = coefficientsOf(function, args.params<UnaryParams>());
  const OracleTensor& x = args.input(0);
  OracleTensor& y = args.output();
  const auto count = static_cast<size_t>(x.elements());
  for (size_t i = 0; i < count; ++i) {
    if (function.test)
      y.integer[i] = function.test(x.real[i], a, b);
    else if (x.isReal())
      y.real[i] = function.real(x.real[i], a, b);
    else if (x.desc.dtype == DType::UInt64)
      y.integer[i] = static_cast<int64_t>(function.unsignedInteger(static_cast<uint64_t>(x.integer[i])));
    else
      y.integer[i] = function.integer(x.integer[i]);
  }
  return Status::ok();
}

std::vector<Function> makeFunctions() {
  std::vector<Function> rows;
#define ORACLE(Name) [](const OracleArgs& args) { return reference(functionOf(#Name), args); }
#define UNARY(rowId, Name, numericClass, defaultA, defaultB, low, high, value, glsl) \
  rows.push_back({.name = #Name,                                                     \
                  .id = rowId,                                                       \
                  .numeric = NumericClass::numericClass,                             \
                  .alpha = defaultA,                                                 \
                  .beta = defaultB,                                                  \
                  .domain = {low, high},                                             \
                  .formula = #value,                                                 \
                  .real = []([[maybe_unused]] double x, [[maybe_unused]] double a,   \
                             [[maybe_unused]] double b) -> double { return value; }, \
                  .oracle = ORACLE(Name)});
#define UNARY_TEST(rowId, Name, defaultA, defaultB, value, glsl)                   \
  rows.push_back({.name = #Name,                                                   \
                  .id = rowId,                                                     \
                  .alpha = defaultA,                                               \
                  .beta = defaultB,                                                \
                  .formula = #value,                                               \
                  .test = []([[maybe_unused]] double x, [[maybe_unused]] double a, \
                             [[maybe_unused]] double b) -> bool { return value; }, \
                  .oracle = ORACLE(Name)});
#include "ops/unary/unary_table.h"

  const auto row = [&](std::string_view name) {
    return std::find_if(rows.begin(), rows.end(), [&](const Function& function) { return function.name == name; });
  };
#define UNARY_INTEGER(id, Name, value, unsignedValue)        \
  row(#Name)->integer = [](int64_t x) -> int64_t {           \
    using T [[maybe_unused]] = int64_t;                      \
    return value;                                            \
  };                                                         \
  row(#Name)->unsignedInteger = [](uint64_t x) -> uint64_t { \
    using T [[maybe_unused]] = uint64_t;                     \
    return unsignedValue;                                    \
  };
#include "ops/unary/unary_table.h"
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

Coefficients coefficientsOf(const Function& function, const UnaryParamsT& params) {
  return {params.alpha.value_or(function.alpha), params.beta.value_or(function.beta)};
}

}  // namespace opkit::ops::unary
