#include "harness/guest/ort_values.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <iterator>
#include <utility>
#include <vector>

#include "engine/import/onnx/onnx_dtype.h"

namespace opkit::harness::ort {
namespace {

/// The numbers that may stand for a type when a value is made. ONNX Runtime 1.30 takes ONNX's numbers there, and gives
/// its own back: the two differ for types of 2 bits and for f8e8m0.
Result<std::vector<int>> numbersOf(DType dtype) {
  const auto* type = std::ranges::find(kElementTypes, dtype, &ElementType::dtype);
  if (type == std::end(kElementTypes))
    return Status::unsupported("ONNX Runtime: tensors of {} are not passed", nameOf(dtype));
  std::vector<int> numbers = {type->number};
  if (const int other = onnxNumberOf(dtype); other != type->number) numbers.push_back(other);
  return numbers;
}

Result<DType> dtypeOf(int number) {
  const auto* type = std::ranges::find(kElementTypes, number, &ElementType::number);
  if (type == std::end(kElementTypes))
    return Status::unsupported("ONNX Runtime: OpKit reads no elements of its type {}", number);
  return type->dtype;
}

}  // namespace

Result<Owned<OrtValue>> borrowed(const OrtLibrary& library, const OrtMemoryInfo* memory, const Tensor& tensor) {
  OPKIT_ASSIGN(const std::vector<int> numbers, numbersOf(tensor.desc.dtype));
  static std::byte nothing[64];  // of a tensor without elements; the library takes no null
  const size_t sizeBytes = tensor.desc.sizeBytes();
  void* data = sizeBytes == 0 ? nothing : tensor.bytes().data();
  const Shape& shape = tensor.desc.shape;
  Status refused;
  for (const int number : numbers) {
    auto value =
        make(library, kCreateTensor, kReleaseValue, memory, data, sizeBytes, shape.data(), shape.size(), number);
    if (value && numbers.size() == 1) return value;
    const auto desc = value ? descOf(library, value->get()) : Result<TensorDesc>(value.error());
    if (desc && *desc == tensor.desc) return value;
    refused = desc.error();
  }
  if (!refused.isOk()) return refused;
  return Status::unsupported("ONNX Runtime {}: it has no tensors of {}", library.version(), nameOf(tensor.desc.dtype));
}

Result<TensorDesc> descOf(const OrtLibrary& library, const OrtValue* value) {
  int hasValue = 0;
  OPKIT_TRY(library.attempt(kHasValue, value, &hasValue));
  OrtValueKind kind{};
  if (hasValue) OPKIT_TRY(library.attempt(kValueKind, value, &kind));
  if (kind != kTensorValue) return Status::unsupported("ONNX Runtime: it gave no tensor");
  OPKIT_ASSIGN(const Owned<OrtTypeAndShape> info, make(library, kTypeAndShape, kReleaseTypeAndShape, value));
  int number = 0;
  size_t rank = 0;
  OPKIT_TRY(library.attempt(kElementType, info.get(), &number));
  OPKIT_TRY(library.attempt(kRank, info.get(), &rank));
  TensorDesc desc;
  desc.shape.resize(rank);
  OPKIT_TRY(library.attempt(kShape, info.get(), desc.shape.data(), rank));
  OPKIT_ASSIGN(desc.dtype, dtypeOf(number));
  return desc;
}

Result<Tensor> copied(const OrtLibrary& library, OrtValue* value) {
  OPKIT_ASSIGN(TensorDesc desc, descOf(library, value));
  OPKIT_ASSIGN(Tensor tensor, Tensor::onHost(std::move(desc), Fill::None));
  size_t sizeBytes = 0;
  void* data = nullptr;
  OPKIT_TRY(library.attempt(kTensorBytes, value, &sizeBytes));
  if (sizeBytes != tensor.sizeBytes())
    return Status::internal("ONNX Runtime: {} has {} bytes, it gave {}", tensor.desc.toString(), tensor.sizeBytes(),
                            sizeBytes);
  if (sizeBytes == 0) return tensor;
  OPKIT_TRY(library.attempt(kTensorData, value, &data));
  std::memcpy(tensor.bytes().data(), data, sizeBytes);
  return tensor;
}

}  // namespace opkit::harness::ort
