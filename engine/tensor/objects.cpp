#include "engine/tensor/objects.h"

#include <cstring>

namespace opkit {
namespace {

template <class T>
class ObjectBuffer final : public Buffer {
 public:
  explicit ObjectBuffer(std::vector<T> objects) : Buffer(0), objects_(std::move(objects)) {}
  const std::vector<T>& objects() const { return objects_; }

 private:
  std::vector<T> objects_;
};

template <class T>
const std::vector<T>& objectsOf(const Tensor& tensor) {
  const auto* buffer = dynamic_cast<const ObjectBuffer<T>*>(tensor.buffer.get());
  OPKIT_CHECK(buffer != nullptr);
  return buffer->objects();
}

/// GCC destroys a nested description twice if what comes after it throws, so the buffer is made first.
template <class T>
Tensor tensorOf(DType dtype, Shape shape, std::vector<T> objects) {
  auto buffer = std::make_shared<ObjectBuffer<T>>(std::move(objects));
  return {{dtype, std::move(shape)}, std::move(buffer)};
}

Tensor listOf(DType dtype, std::vector<Tensor> values) {
  for (const Tensor& value : values) OPKIT_CHECK(checkHeld(dtype, value.desc.dtype).isOk());
  const auto count = static_cast<int64_t>(values.size());
  return tensorOf(dtype, {count}, std::move(values));
}

}  // namespace

Tensor stringTensor(Shape shape, std::vector<std::string> strings) {
  OPKIT_CHECK(elementCount(shape) == static_cast<int64_t>(strings.size()));
  return tensorOf(DType::String, std::move(shape), std::move(strings));
}

Status checkHeld(DType list, DType value) {
  if (list == DType::Sequence && (value == DType::Sequence || value == DType::Optional))
    return Status::invalidArgument("a sequence holds tensors, got {}", nameOf(value));
  if (list == DType::Optional && value == DType::Optional)
    return Status::invalidArgument("an optional holds a tensor or a sequence, got optional");
  return Status::ok();
}

Tensor sequenceOf(std::vector<Tensor> values) { return listOf(DType::Sequence, std::move(values)); }

Tensor optionalOf(std::optional<Tensor> value) {
  std::vector<Tensor> values;
  if (value) values.push_back(*std::move(value));
  return listOf(DType::Optional, std::move(values));
}

const std::vector<std::string>& stringsOf(const Tensor& tensor) { return objectsOf<std::string>(tensor); }
const std::vector<Tensor>& valuesOf(const Tensor& tensor) { return objectsOf<Tensor>(tensor); }

Tensor emptyObject(const TensorDesc& desc) {
  if (desc.dtype == DType::Sequence) return sequenceOf({});
  if (desc.dtype == DType::Optional) return optionalOf(std::nullopt);
  return stringTensor(desc.shape, std::vector<std::string>(static_cast<size_t>(desc.elements())));
}

Result<Tensor> copyOf(const Tensor& tensor) {
  if (isObject(tensor.desc.dtype)) return tensor;
  OPKIT_ASSIGN(Tensor copy, Tensor::onHost(tensor.desc, Fill::None));
  if (copy.sizeBytes() > 0) std::memcpy(copy.bytes().data(), tensor.bytes().data(), copy.sizeBytes());
  return copy;
}

std::vector<Leaf> leavesOf(const Tensor& value) {
  const DType dtype = value.desc.dtype;
  if (dtype != DType::Sequence && dtype != DType::Optional) return {{"", value}};
  std::vector<Leaf> leaves;
  for (const Tensor& one : valuesOf(value)) {
    const size_t number = static_cast<size_t>(&one - valuesOf(value).data());
    for (Leaf& leaf : leavesOf(one))
      leaves.push_back({fmt::format("[{}]{}", number, leaf.place), std::move(leaf.tensor)});
  }
  return leaves;
}

std::string describe(const Tensor& value) {
  const DType dtype = value.desc.dtype;
  if (dtype != DType::Sequence && dtype != DType::Optional) return value.desc.toString();
  std::string inner;
  for (const Tensor& one : valuesOf(value)) inner += (inner.empty() ? "" : ", ") + describe(one);
  return fmt::format("{}[{}]", nameOf(dtype), inner);
}

}  // namespace opkit
