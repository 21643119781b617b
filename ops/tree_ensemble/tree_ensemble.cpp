#include "ops/tree_ensemble/tree_ensemble.h"

#include <algorithm>

#include "engine/op/op_registry.h"
#include "engine/op/shape_rules.h"
#include "ops/tree_ensemble/tree_ensemble_parts.h"

namespace opkit::ops::tree_ensemble {
namespace {

constexpr DTypeSet kTypes{DType::Float32, DType::Float64};
constexpr DTypeSet kIndices{DType::Int32};

Status checkShapes(const ShapeArgs& args) {
  const auto expect = [&](Input input, const char* name, const Shape& shape) {
    return args.shape(input) == shape
               ? Status::ok()
               : Status::invalidArgument("{} must be {}, got {}", name, toString(shape), toString(args.shape(input)));
  };
  if (args.shape(kX).size() != 2)
    return Status::invalidArgument("x must be [rows, features], got {}", toString(args.shape(kX)));
  if (args.shape(kTests).size() != 1)
    return Status::invalidArgument("tests must be [nodes], got {}", toString(args.shape(kTests)));
  if (args.shape(kTargets).size() != 2)
    return Status::invalidArgument("targets must be [leaves, votes], got {}", toString(args.shape(kTargets)));
  OPKIT_TRY(expect(kSplits, "splits", args.shape(kTests)));
  OPKIT_TRY(expect(kChildren, "children", {args.shape(kTests)[0], 2}));
  OPKIT_TRY(expect(kWeights, "weights", args.shape(kTargets)));
  OPKIT_TRY(requireSameType(args, kSplits, "splits", kX));
  return requireSameType(args, kWeights, "weights", kX);
}

/// Kernels read features, slots and targets unchecked.
Status checkContents(const ShapeArgs& args, const TreeEnsembleParamsT& params) {
  const ForestShape forest = forestShapeOf(args.inputs);
  const int64_t slots = forest.nodes + forest.leaves;
  if (params.trees < 0 || params.trees > slots)
    return Status::invalidArgument("trees must be in [0, {}], got {}", slots, params.trees);
  if (params.targets < 0) return Status::invalidArgument("targets must not be negative, got {}", params.targets);
  const std::span<const int32_t> tests = args.contents[kTests]->data<int32_t>();
  const std::span<const int32_t> children = args.contents[kChildren]->data<int32_t>();
  for (size_t i = 0; i < tests.size(); ++i)
    if (tests[i] < 0 || tests[i] >> kOutcomeBits >= forest.features)
      return Status::invalidArgument("node {} must test a feature in [0, {}), got {}", i, forest.features,
                                     tests[i] >> kOutcomeBits);
  for (size_t i = 0; i < children.size(); ++i) {
    const int64_t slot = int64_t{params.trees} + children[i], own = static_cast<int64_t>(i / 2);
    if (slot <= own || slot >= slots)
      return Status::invalidArgument("a child of node {} must be a slot in ({}, {}), got {}", own, own, slots, slot);
  }
  for (const int32_t target : args.contents[kTargets]->data<int32_t>())
    if (target < -1 || target >= params.targets)
      return Status::invalidArgument("a vote must be for a target in [-1, {}), got {}", params.targets, target);
  return Status::ok();
}

Result<std::vector<TensorDesc>> shapeRule(const ShapeArgs& args) {
  const auto params = args.params<TreeEnsembleParams>();
  OPKIT_TRY(checkShapes(args));
  OPKIT_TRY(checkContents(args, params));
  return std::vector{TensorDesc{args.input(kX).dtype, {args.shape(kX)[0], params.targets}}};
}

/// A comparison per level of each tree, counted as if all were balanced.
double flops(const ShapeArgs& args, std::span<const TensorDesc>) {
  const ForestShape forest = forestShapeOf(args.inputs);
  double levels = 1;
  for (int64_t nodes = forest.nodes / std::max(args.params<TreeEnsembleParams>().trees, 1); nodes > 1; nodes /= 2)
    ++levels;
  return static_cast<double>(forest.rows * args.params<TreeEnsembleParams>().trees) * levels;
}

}  // namespace

ForestShape forestShapeOf(std::span<const TensorDesc* const> inputs) {
  return {.rows = inputs[kX]->shape[0],
          .features = inputs[kX]->shape[1],
          .nodes = inputs[kTests]->shape[0],
          .leaves = inputs[kTargets]->shape[0],
          .votes = inputs[kTargets]->shape[1]};
}

int64_t depthOf(std::span<const int32_t> children, int64_t trees) {
  const auto nodes = static_cast<int64_t>(children.size() / 2);
  std::vector<int32_t> depths(static_cast<size_t>(nodes), 1);
  int32_t deepest = 0;
  for (size_t i = 0; i < children.size(); ++i) {
    const int32_t depth = depths[i / 2];
    const int64_t slot = trees + children[i];
    deepest = std::max(deepest, depth);
    if (slot < nodes) depths[static_cast<size_t>(slot)] = std::max(depths[static_cast<size_t>(slot)], depth + 1);
  }
  return deepest;
}

void define(OpRegistry& registry) {
  const auto contents = [](const char* name) { return Port{name, kIndices, Port::Kind::Required, true}; };
  registry.add({.type = "TreeEnsemble",
                .summary = "rows of features through a forest of decision trees: the votes of the leaves, per target",
                .params = paramsSchema<TreeEnsembleParams>(kTreeEnsembleSchema),
                .inputs = {{"x", kTypes},
                           contents("tests"),
                           {"splits", kTypes},
                           contents("children"),
                           contents("targets"),
                           {"weights", kTypes}},
                .outputs = {{"y", kTypes}},
                .numeric = NumericClass::Sum,
                .inferShapes = shapeRule,
                .flops = flops,
                .oracle = reference});
}

}  // namespace opkit::ops::tree_ensemble
