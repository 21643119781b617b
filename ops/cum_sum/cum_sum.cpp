#include "ops/cum_sum/cum_sum.h"

#include "engine/op/op_registry.h"
#include "ops/cum_sum/cum_sum_schema.h"

namespace opkit::ops::cum_sum {
namespace {

Result<std::vector<TensorDesc>> shapeRule(const ShapeArgs& args) {
  const std::vector<int64_t> axis = args.integers(1);
  if (axis.size() != 1) return Status::invalidArgument("axis must hold one element, got {}", toString(args.shape(1)));
  OPKIT_TRY(normalizeAxis(axis[0], args.shape(0).size()).error());
  return std::vector{args.input(0)};
}

}  // namespace

void define(OpRegistry& registry) {
  registry.add({.type = "CumSum",
                .summary = "running sums along an axis",
                .params = paramsSchema<CumSumParams>(kCumSumSchema),
                .inputs = {{"x", kNumbers}, {"axis", kIndexTypes, Port::Kind::Required, true}},
                .outputs = {{"y", kNumbers}},
                .numeric = NumericClass::Sum,
                .inferShapes = shapeRule,
                .oracle = reference});
}

}  // namespace opkit::ops::cum_sum
