#include "ops/where/where_parts.h"

#include "engine/op/op_registry.h"

namespace opkit::ops::where {
namespace {

Result<std::vector<TensorDesc>> shapeRule(const ShapeArgs& args) {
  if (args.input(1).dtype != args.input(2).dtype)
    return Status::invalidArgument("x and y must be of one type, got {} and {}", nameOf(args.input(1).dtype),
                                   nameOf(args.input(2).dtype));
  OPKIT_ASSIGN(const Shape values, broadcastShapes(args.shape(1), args.shape(2)));
  OPKIT_ASSIGN(Shape shape, broadcastShapes(args.shape(0), values));
  return std::vector{TensorDesc{args.input(1).dtype, std::move(shape)}};
}

}  // namespace

void define(OpRegistry& registry) {
  registry.add({.type = "Where",
                .summary = "each element: x where the condition holds, else y; broadcast",
                .inputs = {{"condition", kBool}, {"x"}, {"y"}},
                .outputs = {{"z"}},
                .inPlace = {0, 1, 2},
                .inferShapes = shapeRule,
                .oracle = hiding(reference, hidden)});
}

}  // namespace opkit::ops::where
