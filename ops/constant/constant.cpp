// ConstantOfShape: a tensor of a given shape filled with one value. ONNX Constant nodes become constants of the model
// and need no operator.
#include "engine/op/op_registry.h"
#include "ops/constant/constant_parts.h"

namespace opkit::ops::constant {
namespace {

Result<std::vector<TensorDesc>> shapeRule(const ShapeArgs& args) {
  if (args.input(1).elements() != 1)
    return Status::invalidArgument("value must hold one element, got {}", toString(args.shape(1)));
  Shape shape = args.integers(0);
  OPKIT_TRY(checkShape(shape));
  return std::vector{TensorDesc{args.input(1).dtype, std::move(shape)}};
}

Result<std::vector<RegionList>> lower(const ShapeArgs&, std::span<const TensorDesc>) {
  return std::vector{RegionList{{}, RegionList::Fill::Input, 1}};
}

}  // namespace

void define(OpRegistry& registry) {
  registry.add({.type = "ConstantOfShape",
                .summary = "a tensor of a requested shape, filled with one value",
                .inputs = {{"shape", kIndexTypes, Port::Kind::Required, true}, {"value"}},
                .outputs = {{"y"}},
                .inferShapes = shapeRule,
                .lower = lower,
                .oracle = reference});
}

}  // namespace opkit::ops::constant
