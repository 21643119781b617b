#include "engine/op/op_registry.h"
#include "ops/one_hot/one_hot_parts.h"

namespace opkit::ops::one_hot {
namespace {

/// The depth may be of any numeric type; a fraction is cut off.
int64_t depthOf(const Tensor& tensor) {
  const OracleTensor value = OracleTensor::fromTensor(tensor);
  if (!value.isReal()) return value.integer[0];
  return value.real[0] > -1 && value.real[0] <= static_cast<double>(kMaxElements) ? static_cast<int64_t>(value.real[0])
                                                                                  : -1;
}

Result<std::vector<TensorDesc>> shapeRule(const ShapeArgs& args) {
  if (args.input(1).elements() != 1)
    return Status::invalidArgument("depth must hold one element, got {}", toString(args.shape(1)));
  if (args.shape(2) != Shape{2})
    return Status::invalidArgument("values must be [2], off and on, got {}", toString(args.shape(2)));
  const int64_t depth = depthOf(*args.contents[1]);
  if (depth < 0) return Status::invalidArgument("depth must be in [0, {}]", kMaxElements);
  Shape shape = args.shape(0);
  OPKIT_ASSIGN(const int axis, normalizeAxis(args.params<OneHotParams>().axis, shape.size() + 1));
  shape.insert(shape.begin() + axis, depth);
  return std::vector{TensorDesc{args.input(2).dtype, std::move(shape)}};
}

}  // namespace

void define(OpRegistry& registry) {
  registry.add({.type = "OneHot",
                .summary = "a new axis that is `on` where its coordinate is the index, else `off`",
                .params = paramsSchema<OneHotParams>(kOneHotSchema),
                .inputs = {{"indices", kNumbers}, {"depth", kNumbers, Port::Kind::Required, true}, {"values"}},
                .outputs = {{"y"}},
                .inferShapes = shapeRule,
                .oracle = reference});
}

}  // namespace opkit::ops::one_hot
