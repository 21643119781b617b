// The gather family as loops: copies from positions given by the indices.
#include "ops/gather/gather.h"

namespace opkit::ops::gather {

Result<LoopRegion> gatherLoop(const ShapeArgs& args, std::span<const TensorDesc>) {
  const GatherPlan plan = planGather(args.params<GatherParams>(), args.shape(0));
  const int64_t count = args.input(1).elements(), inner = plan.inner;
  LoopRegion loop;
  loop.iterations = {plan.outer, count};
  loop.size = {inner};
  loop.operands = {{.steps = {plan.extent * inner, 0}, .strides = {1}}};
  loop.target = {.steps = {count * inner, inner}, .strides = {1}};
  loop.indices = {.source = 1, .steps = {0, 1}, .terms = {{.extent = plan.extent, .stride = inner}}};
  return loop;
}

Result<LoopRegion> gatherElementsLoop(const ShapeArgs& args, std::span<const TensorDesc>) {
  const Shape &data = args.shape(0), &indices = args.shape(1);
  const auto axis = static_cast<size_t>(*normalizeAxis(args.params<GatherParams>().axis, data.size()));
  DimVector steps = contiguousStrides(data);
  const int64_t stride = std::exchange(steps[axis], 0);
  LoopRegion loop;
  loop.iterations = indices;
  loop.operands = {{.steps = std::move(steps)}};
  loop.target = {.steps = contiguousStrides(indices)};
  loop.indices = {
      .source = 1, .steps = contiguousStrides(indices), .terms = {{.extent = data[axis], .stride = stride}}};
  return loop;
}

Result<LoopRegion> gatherNdLoop(const ShapeArgs& args, std::span<const TensorDesc>) {
  const Shape &data = args.shape(0), &indices = args.shape(1);
  const auto batchAxes = static_cast<size_t>(args.params<GatherNdParams>().batch_dims);
  const auto depth = static_cast<size_t>(indices.back());
  const int64_t perBatch = elementCount(indices, batchAxes, indices.size() - 1);
  const int64_t slice = elementCount(data, batchAxes + depth, data.size());
  const DimVector strides = contiguousStrides(data);
  LoopRegion loop;
  loop.iterations = {elementCount(data, 0, batchAxes), perBatch};
  loop.size = {slice};
  loop.operands = {{.steps = {elementCount(data, batchAxes, data.size()), 0}, .strides = {1}}};
  loop.target = {.steps = {perBatch * slice, slice}, .strides = {1}};
  loop.indices = {.source = 1, .steps = {perBatch * indices.back(), indices.back()}};
  for (size_t d = 0; d < depth; ++d)
    loop.indices.terms.push_back(
        {.offset = static_cast<int64_t>(d), .extent = data[batchAxes + d], .stride = strides[batchAxes + d]});
  return loop;
}

}  // namespace opkit::ops::gather
