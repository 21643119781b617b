#include "ops/control_flow/control_flow.h"
#include "ops/sequence/sequence.h"

namespace opkit::ops::control_flow {

Result<Tensor> blank(const TensorDesc& desc) { return isObject(desc.dtype) ? emptyObject(desc) : Tensor::onHost(desc); }

Result<Tensor> sliceOf(const Tensor& tensor, size_t axis, int64_t index) {
  OPKIT_ASSIGN(const Tensor part, sequence::partOf(tensor, axis, index, 1));
  Shape shape = tensor.desc.shape;
  shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(axis));
  return sequence::reshaped(part, std::move(shape));
}

Result<Tensor> stack(std::span<const Tensor> slices, int64_t axis, const TensorDesc& empty) {
  TensorDesc desc = slices.empty() ? empty : slices[0].desc;
  OPKIT_ASSIGN(const int at, normalizeAxis(axis, desc.shape.size() + 1));
  std::vector<Tensor> parts;
  for (const Tensor& slice : slices) {
    if (slice.desc != desc)
      return Status::invalidArgument("slices of one output must be alike, got {} and {}", desc.toString(),
                                     slice.desc.toString());
    Shape shape = slice.desc.shape;
    shape.insert(shape.begin() + at, 1);
    parts.push_back(sequence::reshaped(slice, std::move(shape)));
  }
  if (!parts.empty()) return sequence::join(parts, static_cast<size_t>(at));
  desc.shape.insert(desc.shape.begin() + at, 0);
  OPKIT_TRY(checkShape(desc.shape));
  return blank(desc);
}

}  // namespace opkit::ops::control_flow
