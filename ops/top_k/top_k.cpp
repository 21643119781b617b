#include "ops/top_k/top_k_parts.h"

#include "engine/op/op_registry.h"

namespace opkit::ops::top_k {
namespace {

Result<std::vector<TensorDesc>> shapeRule(const ShapeArgs& args) {
  const std::vector<int64_t> k = args.integers(1);
  if (k.size() != 1) return Status::invalidArgument("k must hold one element, got {}", toString(args.shape(1)));
  Shape shape = args.shape(0);
  OPKIT_ASSIGN(const int axis, normalizeAxis(args.params<TopKParams>().axis, shape.size()));
  int64_t& extent = shape[static_cast<size_t>(axis)];
  if (k[0] < 0 || k[0] > extent) return Status::invalidArgument("k must be in [0, {}], got {}", extent, k[0]);
  extent = k[0];
  return std::vector{TensorDesc{args.input(0).dtype, shape}, TensorDesc{DType::Int64, shape}};
}

}  // namespace

void define(OpRegistry& registry) {
  registry.add({.type = "TopK",
                .summary = "the k largest or smallest of each row in order, and their positions",
                .params = paramsSchema<TopKParams>(kTopKSchema),
                .inputs = {{"x", kNumbers}, {"k", DTypeSet{DType::Int64}, Port::Kind::Required, true}},
                .outputs = {{"values", kNumbers}, {"indices", DTypeSet{DType::Int64}}},
                .inferShapes = shapeRule,
                .flops = [](const ShapeArgs& args, auto) { return static_cast<double>(args.input(0).elements()); },
                .oracle = reference});
}

}  // namespace opkit::ops::top_k
