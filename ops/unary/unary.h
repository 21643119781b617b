// The unary family: operators that map each element on its own. unary_table.h has the facts and the
// expressions of the kernels, unary_reference.cpp those of the oracle.
#pragma once

#include "engine/op/op_def.h"
#include "ops/unary/unary_generated.h"

namespace opkit::ops::unary {

/// The facts in a row of the table.
struct Function {
  const char* name = nullptr;
  uint32_t id = 0;  // in the shaders
  NumericClass numeric = NumericClass::Exact;
  float alpha = 0;
  float beta = 0;
  Domain domain = {};
  bool isTest = false;  // bool out
  bool takesIntegers = false;
  bool takesDouble = false;  // on Vulkan
  double errorFloor = 0;
  std::vector<double> edges = {};
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

/// The facts of an operator for its oracle.
struct Oracle {
  const char* formula = "";
  OracleFn run = nullptr;
};
/// The oracle of an operator type; REQUIRES that it has a row.
Oracle oracleOf(std::string_view type);

}  // namespace opkit::ops::unary
