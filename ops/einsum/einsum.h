// The equation of an Einsum, for its card and its parts. Plain values.
#pragma once

#include "ops/einsum/einsum_parts.h"

namespace opkit::ops::einsum {

/// A label of an axis: 'A' to 'z' for a letter; kDots + k for the axis of an ellipsis that has k axes of it behind.
using Label = int;
using Labels = std::vector<Label>;
inline constexpr Label kDots = 128;

struct Equation {
  std::vector<Labels> operands;  // one label per axis
  Labels output;
  std::vector<std::pair<Label, int64_t>> extents;  // of every label: of the operands that do not repeat it (extent 1)

  int64_t extentOf(Label label) const;
  Shape shapeOf(const Labels& labels) const;
};

/// The equation applied to operands of these shapes. InvalidArgument if it is malformed, or if the operands do not fit
/// it or each other.
Result<Equation> readEquation(const std::string& text, const std::vector<Shape>& shapes);

/// The parts of an Einsum over operands of one type, with an output that has elements.
Status contract(const Equation& equation, const ShapeArgs& args, Decomposition& parts);

}  // namespace opkit::ops::einsum
