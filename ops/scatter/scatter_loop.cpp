// The scatters as loops: updates go to positions given by the indices.
#include "ops/scatter/scatter.h"

namespace opkit::ops::scatter {

Result<LoopRegion> elementsLoop(const ShapeArgs& args, std::span<const TensorDesc>) {
  const auto params = args.params<ScatterParams>();
  const Shape &data = args.shape(0), &indices = args.shape(1);
  const auto axis = static_cast<size_t>(*normalizeAxis(params.axis, data.size()));
  DimVector steps = contiguousStrides(data);
  const int64_t stride = std::exchange(steps[axis], 0);
  LoopRegion loop;
  loop.command = LoopRegion::Command::Scatter;
  loop.combine = static_cast<Combine>(params.reduction);
  loop.iterations = indices;
  loop.operands = {{.source = 2, .steps = contiguousStrides(indices)}};
  loop.target = {.steps = std::move(steps)};
  loop.indices = {
      .source = 1, .steps = contiguousStrides(indices), .terms = {{.extent = data[axis], .stride = stride}}};
  return loop;
}

Result<LoopRegion> ndLoop(const ShapeArgs& args, std::span<const TensorDesc>) {
  const Shape &data = args.shape(0), &indices = args.shape(1);
  const auto depth = static_cast<size_t>(indices.back());
  const int64_t slice = elementCount(data, depth, data.size());
  const DimVector strides = contiguousStrides(data);
  LoopRegion loop;
  loop.command = LoopRegion::Command::Scatter;
  loop.combine = static_cast<Combine>(args.params<ScatterNdParams>().reduction);
  loop.iterations = {elementCount(indices, 0, indices.size() - 1)};
  loop.size = {slice};
  loop.operands = {{.source = 2, .steps = {slice}, .strides = {1}}};
  loop.target = {.steps = {0}, .strides = {1}};
  loop.indices = {.source = 1, .steps = {indices.back()}};
  for (size_t d = 0; d < depth; ++d)
    loop.indices.terms.push_back({.offset = static_cast<int64_t>(d), .extent = data[d], .stride = strides[d]});
  return loop;
}

}  // namespace opkit::ops::scatter
