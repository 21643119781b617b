#include "engine/backend/loop_lowering.h"
#include "ops/gather/gather.h"

// GCC 12 loses track of a vector inside forEachIndex and warns about its destructor.
#pragma GCC diagnostic ignored "-Wfree-nonheap-object"

namespace opkit::ops::gather {
namespace {

// Element i of the output is element source[i] of the data.
void copyElements(const OracleArgs& args, const std::vector<int64_t>& source) {
  visitElements(args.input(0), args.output(), [&](const auto& data, auto& y) {
    for (size_t i = 0; i < source.size(); ++i) y[i] = data[static_cast<size_t>(source[i])];
  });
}

}  // namespace

Status gatherReference(const OracleArgs& args) {
  const GatherPlan plan = planGather(args.params<GatherParams>(), args.input(0).shape());
  std::vector<int64_t> source;
  source.reserve(static_cast<size_t>(args.output().elements()));
  for (int64_t outer = 0; outer < plan.outer; ++outer)
    for (const int64_t index : args.input(1).integer) {
      OPKIT_ASSIGN(const int64_t at, resolveIndex("Gather", index, plan.extent));
      for (int64_t i = 0; i < plan.inner; ++i) source.push_back((outer * plan.extent + at) * plan.inner + i);
    }
  copyElements(args, source);
  return Status::ok();
}

Status gatherElementsReference(const OracleArgs& args) {
  const Shape& data = args.input(0).shape();
  const auto axis = static_cast<size_t>(*normalizeAxis(args.params<GatherParams>().axis, data.size()));
  const std::vector<int64_t> strides = contiguousStrides(data);
  std::vector<int64_t> source;
  Status status;
  forEachIndex(args.input(1).shape(), [&](const std::vector<int64_t>& index) {
    const auto at = resolveIndex("GatherElements", args.input(1).integer[source.size()], data[axis]);
    if (!at && status.isOk()) status = at.error();
    int64_t offset = 0;
    for (size_t d = 0; d < data.size(); ++d) offset += (d == axis ? (at ? *at : 0) : index[d]) * strides[d];
    source.push_back(offset);
  });
  OPKIT_TRY(status);
  copyElements(args, source);
  return Status::ok();
}

Status gatherNdReference(const OracleArgs& args) {
  const Shape &data = args.input(0).shape(), &indices = args.input(1).shape();
  const auto batchAxes = static_cast<size_t>(args.params<GatherNdParams>().batch_dims);
  const auto depth = static_cast<size_t>(indices.back());
  const int64_t batches = elementCount(data, 0, batchAxes);
  const int64_t perBatch = elementCount(indices, batchAxes, indices.size() - 1);
  const int64_t slice = elementCount(data, batchAxes + depth, data.size());
  const std::vector<int64_t> strides = contiguousStrides(data);
  std::vector<int64_t> source;
  const int64_t* tuple = args.input(1).integer.data();
  for (int64_t i = 0; i < batches * perBatch; ++i, tuple += depth) {
    int64_t offset = i / perBatch * elementCount(data, batchAxes, data.size());
    for (size_t d = 0; d < depth; ++d) {
      OPKIT_ASSIGN(const int64_t at, resolveIndex("GatherND", tuple[d], data[batchAxes + d]));
      offset += at * strides[batchAxes + d];
    }
    for (int64_t k = 0; k < slice; ++k) source.push_back(offset + k);
  }
  copyElements(args, source);
  return Status::ok();
}

}  // namespace opkit::ops::gather
