#include "ops/scatter/scatter.h"

#include "engine/op/op_registry.h"
#include "engine/op/scatter.h"
#include "engine/op/shape_rules.h"
#include "ops/scatter/scatter_nd_schema.h"
#include "ops/scatter/scatter_schema.h"

namespace opkit::ops::scatter {
namespace {

Result<std::vector<TensorDesc>> elementsShapeRule(const ShapeArgs& args) {
  const auto params = args.params<ScatterParams>();
  const Shape &data = args.shape(0), &indices = args.shape(1);
  OPKIT_TRY(checkCombine(static_cast<Combine>(params.reduction), args));
  OPKIT_ASSIGN(const int axis, normalizeAxis(params.axis, data.size()));
  OPKIT_TRY(checkIndicesFit(data, indices, axis));
  if (args.shape(2) != indices)
    return Status::invalidArgument("updates must be {} like the indices, got {}", toString(indices),
                                   toString(args.shape(2)));
  return std::vector{args.input(0)};
}

Result<std::vector<TensorDesc>> ndShapeRule(const ShapeArgs& args) {
  const Shape &data = args.shape(0), &indices = args.shape(1);
  OPKIT_TRY(checkCombine(static_cast<Combine>(args.params<ScatterNdParams>().reduction), args));
  const auto rank = static_cast<int64_t>(data.size());
  if (indices.empty() || indices.back() > rank)
    return Status::invalidArgument("the last extent of indices must be in [0, {}], got {}", rank, toString(indices));
  Shape shape(indices.begin(), indices.end() - 1);
  shape.insert(shape.end(), data.begin() + indices.back(), data.end());
  if (args.shape(2) != shape)
    return Status::invalidArgument("updates must be {}, got {}", toString(shape), toString(args.shape(2)));
  return std::vector{args.input(0)};
}

double flopsOf(const ShapeArgs& args, std::span<const TensorDesc>) {
  return static_cast<double>(args.input(2).elements());
}

}  // namespace

void define(OpRegistry& registry) {
  const std::vector<Port> inputs{{"data", kAnyDType}, {"indices", kIndexTypes}, {"updates", kAnyDType}};
  registry.add(
      {.type = "ScatterElements",
       .summary = "a copy of the data with single elements, chosen by indices along an axis, written or combined",
       .params = paramsSchema<ScatterParams>(kScatterSchema),
       .inputs = inputs,
       .outputs = {{"y"}},
       .numeric = NumericClass::Sum,  // of elements that a reduction adds to or multiplies; others are exact
       .inferShapes = elementsShapeRule,
       .loop = elementsLoop,
       .flops = flopsOf,
       .oracle = hiding(elementsReference, elementsHidden)});
  registry.add({.type = "ScatterND",
                .summary = "a copy of the data with slices, chosen by tuples of indices, written or combined",
                .params = paramsSchema<ScatterNdParams>(kScatterNdSchema),
                .inputs = inputs,
                .outputs = {{"y"}},
                .numeric = NumericClass::Sum,
                .inferShapes = ndShapeRule,
                .loop = ndLoop,
                .flops = flopsOf,
                .oracle = hiding(ndReference, ndHidden)});
}

}  // namespace opkit::ops::scatter
