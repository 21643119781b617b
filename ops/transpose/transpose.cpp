#include <numeric>

#include "engine/op/op_registry.h"
#include "ops/transpose/transpose_parts.h"

namespace opkit::ops::transpose {
namespace {

/// The permutation, checked against the rank.
Result<std::vector<size_t>> permutationOf(const ShapeArgs& args) {
  const size_t rank = args.shape(0).size();
  const auto params = args.params<TransposeParams>();
  std::vector<size_t> perm(rank);
  if (params.perm.empty()) {
    std::iota(perm.rbegin(), perm.rend(), size_t{0});
    return perm;
  }
  if (params.perm.size() != rank)
    return Status::invalidArgument("perm must list {} axes, got {}", rank, params.perm.size());
  std::vector<bool> seen(rank, false);
  for (size_t d = 0; d < rank; ++d) {
    OPKIT_ASSIGN(const int axis, normalizeAxis(params.perm[d], rank));
    perm[d] = static_cast<size_t>(axis);
    if (seen[perm[d]]) return Status::invalidArgument("perm lists axis {} twice", axis);
    seen[perm[d]] = true;
  }
  return perm;
}

Result<std::vector<TensorDesc>> shapeRule(const ShapeArgs& args) {
  OPKIT_ASSIGN(const std::vector<size_t> perm, permutationOf(args));
  TensorDesc output{args.input(0).dtype, {}};
  for (const size_t axis : perm) output.shape.push_back(args.shape(0)[axis]);
  return std::vector{output};
}

Result<std::vector<RegionList>> lower(const ShapeArgs& args, std::span<const TensorDesc> outputs) {
  OPKIT_ASSIGN(const std::vector<size_t> perm, permutationOf(args));
  const DimVector strides = contiguousStrides(args.shape(0));
  Region region{0, 0, 0, outputs[0].shape, {}, contiguousStrides(outputs[0].shape)};
  for (const size_t axis : perm) region.sourceStrides.push_back(strides[axis]);
  return std::vector{RegionList{{region}}};
}

}  // namespace

void define(OpRegistry& registry) {
  registry.add({.type = "Transpose",
                .summary = "permutes axes",
                .params = paramsSchema<TransposeParams>(kTransposeSchema),
                .inputs = {{"x", kMovedDTypes}},
                .outputs = {{"y", kMovedDTypes}},
                .inferShapes = shapeRule,
                .lower = lower,
                .oracle = reference});
}

}  // namespace opkit::ops::transpose
