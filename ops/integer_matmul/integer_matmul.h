// Shared by the files of MatMulInteger and QLinearMatMul, and by those of ConvInteger and QLinearConv: which input
// holds what, and which zero point or scale belongs to a row or column.
#pragma once

#include "ops/integer_matmul/integer_matmul_parts.h"
#include "ops/matmul/matmul.h"

namespace opkit::ops::integer_matmul {

/// Numbers of inputs; -1 where the operator has none. `a` has the rows of the product and `b` its columns.
struct Roles {
  int a, b, aZeroPoint, bZeroPoint;
  int aScale = -1, bScale = -1, yScale = -1, yZeroPoint = -1, bias = -1;

  bool isQuantized() const { return yScale >= 0; }
};
/// REQUIRES MatMulInteger, QLinearMatMul, ConvInteger or QLinearConv.
const Roles& rolesOf(std::string_view type);

/// Values of the rows or columns of an operand: line i of matrix m has the value number m * matrixStep + i * step.
struct Lines {
  int64_t matrixStep = 0;
  int64_t step = 0;
};
/// InvalidArgument if `values` is neither one value, nor one per line, nor [batch..., lines, 1] ([batch..., 1, lines]
/// for columns) of the operand [batch..., rows, columns].
Result<Lines> planLines(const Shape& values, const Shape& operand, bool isRows, std::string_view name);

/// Everything that the kernels need of the shapes.
struct IntegerPlan {
  matmul::MatMulPlan product;
  Lines aZeroPoint, bZeroPoint, aScale, bScale;
};
/// `shapes` are those of the inputs, null where one is absent.
Result<IntegerPlan> planIntegers(const Roles& roles, std::span<const Shape* const> shapes);

/// The shapes of a node's inputs.
std::vector<const Shape*> shapesOf(TensorList inputs);

/// Whether the inputs of a quantised operator fit together: types of zero points; one scale and zero point of y.
Status checkQuantized(const ShapeArgs& args, const Roles& roles);

}  // namespace opkit::ops::integer_matmul
