#include "ops/lrn/lrn.h"

#include "engine/op/op_registry.h"

namespace opkit::ops::lrn {
namespace {

Result<std::vector<TensorDesc>> shapeRule(const ShapeArgs& args) {
  constexpr int64_t kMaxSize = int64_t{1} << 31;
  const int64_t size = args.params<LrnParams>().size;
  if (size < 1 || size >= kMaxSize) return Status::invalidArgument("size must be in [1, {}), got {}", kMaxSize, size);
  if (args.shape(0).size() < 2)
    return Status::invalidArgument("the input must have batch and channel axes, got {}", toString(args.shape(0)));
  return std::vector{args.input(0)};
}

}  // namespace

LrnPlan planLrn(const LrnParamsT& params, const Shape& x) {
  const int64_t before = (params.size - 1) / 2;
  return {x[0], x[1], elementCount(x, 2, x.size()), before, params.size - 1 - before};
}

void define(OpRegistry& registry) {
  registry.add({.type = "LRN",
                .summary = "x / (bias + alpha/size * sum of squares over neighbouring channels)^beta",
                .params = paramsSchema<LrnParams>(kLrnSchema),
                .inputs = {{"x", kFloats}},
                .outputs = {{"y"}},
                .numeric = NumericClass::Transcendental,
                .inferShapes = shapeRule,
                .flops =
                    [](const ShapeArgs& args, auto) {
                      return static_cast<double>(args.input(0).elements() * (2 * args.params<LrnParams>().size + 3));
                    },
                .oracle = reference});
}

}  // namespace opkit::ops::lrn
