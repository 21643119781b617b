// The binary family: element-wise operators on two operands that broadcast. All facts are in binary_table.h.
#pragma once

#include "engine/op/loops.h"
#include "engine/op/op_def.h"
#include "ops/binary/binary_generated.h"

namespace opkit::ops::binary {

/// A row of the table, in C++. Exactly the functions for the operator's dtypes are called.
struct Function {
  enum class Kind { Arithmetic, Compare, Logic };
  const char* name = nullptr;
  uint32_t id = 0;  // in the shaders
  Kind kind = Kind::Arithmetic;
  NumericClass numeric = NumericClass::Exact;
  DTypeSet dtypes;
  Domain domain = {};
  const char* formula = "";
  double (*real)(double x, double y) = nullptr;
  int64_t (*integer)(int64_t x, int64_t y) = nullptr;
  uint64_t (*unsignedInteger)(uint64_t x, uint64_t y) = nullptr;
  OracleFn oracle = nullptr;
};

/// Every row, in the table's order.
std::span<const Function> functions();
/// The row of an operator type; REQUIRES that there is one.
const Function& functionOf(std::string_view type);

/// The shape of y with 1s appended as `axis` requires; InvalidArgument if y does not fit there.
Result<Shape> alignedShape(const BinaryParamsT& params, const Shape& x, const Shape& y);
/// The merged loops over the output; operand 0 is x, operand 1 is y. REQUIRES that the shape rule accepted.
Loops loopsOf(const BinaryParamsT& params, const Shape& x, const Shape& y);

}  // namespace opkit::ops::binary
