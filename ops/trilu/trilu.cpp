#include "ops/trilu/trilu_parts.h"

#include "engine/op/op_registry.h"

namespace opkit::ops::trilu {
namespace {

Result<std::vector<TensorDesc>> shapeRule(const ShapeArgs& args) {
  if (args.shape(0).size() < 2)
    return Status::invalidArgument("x must be a matrix or a batch of them, got {}", toString(args.shape(0)));
  if (args.hasInput(1) && args.input(1).elements() != 1)
    return Status::invalidArgument("k must hold one element, got {}", toString(args.shape(1)));
  return std::vector{args.input(0)};
}

}  // namespace

void define(OpRegistry& registry) {
  registry.add({.type = "Trilu",
                .summary = "keeps a triangle of each matrix, zero elsewhere",
                .params = paramsSchema<TriluParams>(kTriluSchema),
                .inputs = {{"x"}, {"k", DTypeSet{DType::Int64}, Port::Kind::Optional}},
                .outputs = {{"y"}},
                .inferShapes = shapeRule,
                .oracle = hiding(reference, hidden)});
}

}  // namespace opkit::ops::trilu
