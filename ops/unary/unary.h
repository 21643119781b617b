// The unary family: operators that map each element on its own. All facts are in unary_table.h.
#pragma once

#include "engine/op/op_def.h"
#include "ops/unary/unary_generated.h"

namespace opkit::ops::unary {

/// A row of the table, in C++. Functions are null if the operator does not take such elements.
struct Function {
  const char* name = nullptr;
  uint32_t id = 0;  // in the shaders
  NumericClass numeric = NumericClass::Exact;
  float alpha = 0;
  float beta = 0;
  Domain domain = {};
  const char* formula = "";
  double (*real)(double x, double a, double b) = nullptr;
  bool (*test)(double x, double a, double b) = nullptr;
  int64_t (*integer)(int64_t x) = nullptr;
  uint64_t (*unsignedInteger)(uint64_t x) = nullptr;
  OracleFn oracle = nullptr;
};

/// Every row, in the table's order.
std::span<const Function> functions();
/// The row of an operator type; REQUIRES that there is one.
const Function& functionOf(std::string_view type);

struct Coefficients {
  float a;
  float b;
};
/// The parameters, or the row's defaults.
Coefficients coefficientsOf(const Function& function, const UnaryParamsT& params);

}  // namespace opkit::ops::unary
