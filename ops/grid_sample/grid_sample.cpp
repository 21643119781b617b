#include "ops/grid_sample/grid_plan.h"

#include <cmath>

#include "engine/op/op_registry.h"
#include "ops/grid_sample/grid_sample_parts.h"

namespace opkit::ops::grid_sample {
namespace {

Result<std::vector<TensorDesc>> shapeRule(const ShapeArgs& args) {
  const Shape &x = args.shape(0), &grid = args.shape(1);
  if (x.size() < 3 || x.size() > kMaxAxes + 2)
    return Status::unsupported("the input must have 1 to {} spatial axes, got {}", kMaxAxes, toString(x));
  const auto axes = static_cast<int64_t>(x.size()) - 2;
  if (grid.size() != x.size() || grid[0] != x[0] || grid.back() != axes)
    return Status::invalidArgument("the grid must be [{}, ..., {}] of rank {} for input {}, got {}", x[0], axes,
                                   x.size(), toString(x), toString(grid));
  if (elementCount(x, 2, x.size()) == 0 && elementCount(grid) > 0)
    return Status::invalidArgument("the images must have elements, got {}", toString(x));
  Shape shape{x[0], x[1]};
  shape.insert(shape.end(), grid.begin() + 1, grid.end() - 1);
  return std::vector{TensorDesc{args.input(0).dtype, shape}};
}

double flops(const ShapeArgs& args, std::span<const TensorDesc> outputs) {
  const auto taps = static_cast<double>(tapsOf(args.params<GridSampleParams>().mode));
  return 2 * std::pow(taps, static_cast<double>(args.shape(0).size() - 2)) * static_cast<double>(outputs[0].elements());
}

}  // namespace

GridPlan planGrid(const Shape& x, const Shape& grid) {
  GridPlan plan;
  plan.batch = x[0];
  plan.channels = x[1];
  plan.axes = x.size() - 2;
  plan.positions = elementCount(grid, 1, grid.size() - 1);
  for (size_t d = 0; d < plan.axes; ++d) plan.inputs[kMaxAxes - plan.axes + d] = x[d + 2];
  return plan;
}

void define(OpRegistry& registry) {
  registry.add({.type = "GridSample",
                .summary = "images sampled at places that a grid gives, for 1 to 3 spatial axes",
                .params = paramsSchema<GridSampleParams>(kGridSampleSchema),
                .inputs = {{"x", kFloats}, {"grid", kFloats}},
                .outputs = {{"y"}},
                .numeric = NumericClass::Sum,
                .domain = {-1.25, 1.25},
                .inferShapes = shapeRule,
                .flops = flops,
                .oracle = gridSampleReference});
  registry.add({.type = "AffineGrid",
                .summary = "the grid for GridSample that an affine matrix per image gives",
                .params = paramsSchema<AffineGridParams>(kAffineGridSchema),
                .inputs = {{"theta", kFloats}, {"size", kIndexTypes, Port::Kind::Required, true}},
                .outputs = {{"grid"}},
                .numeric = NumericClass::Products,
                .inferShapes = affineGridRule,
                .decompose = decomposeAffineGrid,
                .flops = affineGridFlops,
                .oracle = affineGridReference});
}

}  // namespace opkit::ops::grid_sample
