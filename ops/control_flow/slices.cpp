#include <cstring>

#include "ops/control_flow/control_flow.h"

namespace opkit::ops::control_flow {
namespace {

/// Copies between slice `index` of `whole` [outer, extent, inner] and `slice` [outer, inner].
void copySlice(const Tensor& whole, size_t axis, int64_t index, const Tensor& slice, bool intoWhole) {
  const Shape& shape = whole.desc.shape;
  const int64_t outer = elementCount(shape, 0, axis);
  const size_t bytes = static_cast<size_t>(elementCount(shape, axis + 1, shape.size())) * sizeOf(whole.desc.dtype);
  if (bytes == 0) return;
  for (int64_t i = 0; i < outer; ++i) {
    std::byte* big = whole.bytes().data() + static_cast<size_t>(i * shape[axis] + index) * bytes;
    std::byte* small = slice.bytes().data() + static_cast<size_t>(i) * bytes;
    std::memcpy(intoWhole ? big : small, intoWhole ? small : big, bytes);
  }
}

}  // namespace

Result<Tensor> sliceOf(const Tensor& tensor, size_t axis, int64_t index) {
  TensorDesc desc = tensor.desc;
  desc.shape.erase(desc.shape.begin() + static_cast<std::ptrdiff_t>(axis));
  OPKIT_ASSIGN(Tensor slice, Tensor::onHost(std::move(desc)));
  copySlice(tensor, axis, index, slice, false);
  return slice;
}

Result<Tensor> stack(std::span<const Tensor> slices, int64_t axis, const TensorDesc& empty) {
  TensorDesc desc = slices.empty() ? empty : slices[0].desc;
  OPKIT_ASSIGN(const int at, normalizeAxis(axis, desc.shape.size() + 1));
  for (const Tensor& slice : slices)
    if (slice.desc != desc)
      return Status::invalidArgument("slices of one output must be alike, got {} and {}", desc.toString(),
                                     slice.desc.toString());
  desc.shape.insert(desc.shape.begin() + at, static_cast<int64_t>(slices.size()));
  OPKIT_TRY(checkShape(desc.shape));
  OPKIT_ASSIGN(Tensor whole, Tensor::onHost(std::move(desc)));
  for (size_t i = 0; i < slices.size(); ++i)
    copySlice(whole, static_cast<size_t>(at), static_cast<int64_t>(i), slices[i], true);
  return whole;
}

}  // namespace opkit::ops::control_flow
