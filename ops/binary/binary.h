// The binary family: element-wise operators on two operands that broadcast. binary_table.h has the facts
// and the expressions of the kernels, binary_reference.cpp those of the oracle.
#pragma once

#include "engine/op/loops.h"
#include "engine/op/op_def.h"
#include "ops/binary/binary_generated.h"

namespace opkit::ops::binary {

/// The facts in a row of the table.
struct Function {
  enum class Kind { Arithmetic, Compare, Logic };
  const char* name = nullptr;
  uint32_t id = 0;  // in the shaders
  Kind kind = Kind::Arithmetic;
  NumericClass numeric = NumericClass::Exact;
  DTypeSet dtypes;
  Domain domain = {};
  std::vector<double> edges = {};
};

/// Every row, in the table's order.
std::span<const Function> functions();
/// The row of an operator type; REQUIRES that there is one.
const Function& functionOf(std::string_view type);

/// The shape of y with 1s appended as `axis` requires; InvalidArgument if y does not fit there.
Result<Shape> alignedShape(const BinaryParamsT& params, const Shape& x, const Shape& y);
/// The merged loops over the output; operand 0 is x, operand 1 is y. REQUIRES that the shape rule accepted.
Loops loopsOf(const BinaryParamsT& params, const Shape& x, const Shape& y);

/// The facts of an operator for its oracle.
struct Oracle {
  const char* formula = "";
  OracleFn run = nullptr;
};
/// The oracle of an operator type; REQUIRES that it has a row.
Oracle oracleOf(std::string_view type);

}  // namespace opkit::ops::binary
