// SplitToSequence, ConcatFromSequence and SequenceMap.
#include <algorithm>
#include <cstring>

#include "ops/sequence/join_generated.h"
#include "ops/sequence/sequence.h"
#include "ops/sequence/sequence_generated.h"

namespace opkit::ops::sequence {
namespace {

/// Copies rows of `inner` elements between `whole` [outer, extent, inner] and `part` [outer, rows, inner].
struct Rows {
  int64_t outer, extent, inner;

  Rows(const Shape& whole, size_t axis)
      : outer(elementCount(whole, 0, axis)), extent(whole[axis]), inner(elementCount(whole, axis + 1, whole.size())) {}

  /// copy(position in the whole, position in the part, elements).
  template <class Copy>
  void forEach(int64_t begin, int64_t rows, const Copy& copy) const {
    for (int64_t o = 0; o < outer; ++o)
      copy(static_cast<size_t>((o * extent + begin) * inner), static_cast<size_t>(o * rows * inner),
           static_cast<size_t>(rows * inner));
  }
};

Status checkMovable(const Tensor& tensor) {
  const DType dtype = tensor.desc.dtype;
  if (dtype == DType::String || (!isPacked(dtype) && !isObject(dtype))) return Status::ok();
  return Status::unsupported("elements of {} cannot be moved one by one", nameOf(dtype));
}

}  // namespace

Tensor reshaped(const Tensor& tensor, Shape shape) {
  OPKIT_CHECK(elementCount(shape) == tensor.desc.elements());
  Tensor result = tensor;
  result.desc.shape = std::move(shape);
  return result;
}

Result<Tensor> partOf(const Tensor& whole, size_t axis, int64_t begin, int64_t extent) {
  OPKIT_TRY(checkMovable(whole));
  const Rows rows(whole.desc.shape, axis);
  TensorDesc desc = whole.desc;
  desc.shape[axis] = extent;
  if (desc.dtype == DType::String) {
    std::vector<std::string> strings(static_cast<size_t>(desc.elements()));
    rows.forEach(begin, extent, [&](size_t from, size_t to, size_t count) {
      std::copy_n(stringsOf(whole).begin() + static_cast<std::ptrdiff_t>(from), count,
                  strings.begin() + static_cast<std::ptrdiff_t>(to));
    });
    return stringTensor(desc.shape, std::move(strings));
  }
  const size_t size = sizeOf(desc.dtype);
  OPKIT_ASSIGN(Tensor part, Tensor::onHost(desc, Fill::None));
  rows.forEach(begin, extent, [&](size_t from, size_t to, size_t count) {
    if (count > 0) std::memcpy(&part.bytes()[to * size], &whole.bytes()[from * size], count * size);
  });
  return part;
}

Result<std::vector<Tensor>> cut(const Tensor& whole, size_t axis, const std::vector<int64_t>& extents) {
  std::vector<Tensor> parts;
  int64_t begin = 0;
  for (const int64_t extent : extents) {
    OPKIT_ASSIGN(Tensor part, partOf(whole, axis, begin, extent));
    parts.push_back(std::move(part));
    begin += extent;
  }
  return parts;
}

Result<Tensor> join(const std::vector<Tensor>& parts, size_t axis) {
  if (parts.empty()) return Status::invalidArgument("the sequence is empty");
  TensorDesc desc = parts[0].desc;
  OPKIT_TRY(checkMovable(parts[0]));
  desc.shape[axis] = 0;
  for (const Tensor& part : parts) {
    TensorDesc beside = part.desc;
    if (beside.shape.size() == desc.shape.size()) beside.shape[axis] = desc.shape[axis];
    if (beside != desc)
      return Status::invalidArgument("tensors must agree in type and in extents beside axis {}, got {} and {}", axis,
                                     parts[0].desc.toString(), part.desc.toString());
    desc.shape[axis] += part.desc.shape[axis];
  }
  OPKIT_TRY(checkShape(desc.shape));
  const Rows rows(desc.shape, axis);
  std::vector<std::string> strings(desc.dtype == DType::String ? static_cast<size_t>(desc.elements()) : 0);
  OPKIT_ASSIGN(Tensor whole, Tensor::onHost(desc, Fill::None));
  int64_t begin = 0;
  for (const Tensor& part : parts) {
    const int64_t extent = part.desc.shape[axis];
    rows.forEach(begin, extent, [&](size_t to, size_t from, size_t count) {
      if (desc.dtype == DType::String) {
        std::copy_n(stringsOf(part).begin() + static_cast<std::ptrdiff_t>(from), count,
                    strings.begin() + static_cast<std::ptrdiff_t>(to));
      } else if (const size_t size = sizeOf(desc.dtype); count > 0) {
        std::memcpy(&whole.bytes()[to * size], &part.bytes()[from * size], count * size);
      }
    });
    begin += extent;
  }
  return desc.dtype == DType::String ? stringTensor(desc.shape, std::move(strings)) : whole;
}

namespace {

/// The extents of the parts: all of one length, the last perhaps shorter, or as listed.
Result<std::vector<int64_t>> lengthsOf(const ControlArgs& args, int64_t extent) {
  std::vector<int64_t> given = {1};
  if (args.hasInput(1)) given = toInt64(args.inputs[1]);
  if (!args.hasInput(1) || args.inputs[1].desc.shape.empty()) {
    if (given[0] < 1) return Status::invalidArgument("the length of parts must be 1 or more, got {}", given[0]);
    std::vector<int64_t> lengths;
    for (int64_t begin = 0; begin < extent; begin += given[0]) lengths.push_back(std::min(given[0], extent - begin));
    return lengths;
  }
  int64_t sum = 0;
  for (const int64_t length : given) {
    if (length < 0 || length > extent)
      return Status::invalidArgument("lengths must be in [0, {}], got {}", extent, length);
    sum += length;
  }
  if (sum != extent) return Status::invalidArgument("lengths must add up to {}, got {}", extent, sum);
  return given;
}

}  // namespace

Result<std::vector<Tensor>> runSplit(const ControlArgs& args) {
  const auto params = args.params<SplitToSequenceParams>();
  const Tensor& whole = args.inputs[0];
  OPKIT_ASSIGN(const int axis, normalizeAxis(params.axis, whole.desc.shape.size()));
  const auto at = static_cast<size_t>(axis);
  OPKIT_ASSIGN(const std::vector<int64_t> lengths, lengthsOf(args, whole.desc.shape[at]));
  OPKIT_ASSIGN(std::vector<Tensor> parts, cut(whole, at, lengths));
  if (!args.hasInput(1) && !params.keep_dims)
    for (Tensor& part : parts) {
      Shape shape = part.desc.shape;
      shape.erase(shape.begin() + axis);
      part = reshaped(part, std::move(shape));
    }
  return std::vector{sequenceOf(std::move(parts))};
}

Result<std::vector<Tensor>> runConcat(const ControlArgs& args) {
  const auto params = args.params<ConcatFromSequenceParams>();
  std::vector<Tensor> parts = valuesOf(args.inputs[0]);
  if (parts.empty()) return Status::invalidArgument("the sequence is empty");
  const size_t rank = parts[0].desc.shape.size() + (params.new_axis ? 1 : 0);
  OPKIT_ASSIGN(const int axis, normalizeAxis(params.axis, rank));
  if (params.new_axis)
    for (Tensor& part : parts) {
      if (part.desc != valuesOf(args.inputs[0])[0].desc)
        return Status::invalidArgument("tensors that are stacked must be alike, got {} and {}",
                                       valuesOf(args.inputs[0])[0].desc.toString(), part.desc.toString());
      Shape shape = part.desc.shape;
      shape.insert(shape.begin() + axis, 1);
      part = reshaped(part, std::move(shape));
    }
  OPKIT_ASSIGN(Tensor whole, join(parts, static_cast<size_t>(axis)));
  return std::vector{std::move(whole)};
}

Result<std::vector<Tensor>> runMap(const ControlArgs& args) {
  SubgraphRunner& body = *args.subgraphs[0];
  const size_t count = body.inputCount();
  if (args.inputs.size() < count)
    return Status::invalidArgument("the body takes {} inputs, got {}", count, args.inputs.size());
  const size_t length = valuesOf(args.inputs[0]).size();
  for (size_t i = 0; i < count; ++i)
    if (args.inputs[i].desc.dtype == DType::Sequence && valuesOf(args.inputs[i]).size() != length)
      return Status::invalidArgument("sequences must be equally long, got {} and {} tensors", length,
                                     valuesOf(args.inputs[i]).size());
  std::vector<std::vector<Tensor>> made(body.outputCount());
  for (size_t k = 0; k < length; ++k) {
    std::vector<Tensor> inputs;
    for (size_t i = 0; i < count; ++i) {
      const Tensor& input = args.inputs[i];
      inputs.push_back(input.desc.dtype == DType::Sequence ? valuesOf(input)[k] : input);
    }
    OPKIT_ASSIGN(std::vector<Tensor> outputs, body.run(inputs));
    for (size_t i = 0; i < made.size(); ++i) {
      OPKIT_TRY(checkHeld(DType::Sequence, outputs[i].desc.dtype));
      made[i].push_back(std::move(outputs[i]));
    }
  }
  std::vector<Tensor> sequences;
  for (std::vector<Tensor>& values : made) sequences.push_back(sequenceOf(std::move(values)));
  return sequences;
}

}  // namespace opkit::ops::sequence
