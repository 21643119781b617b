// Tensor: a description (dtype, shape) and the location of its bytes.
//
// TensorDesc is a value. Buffer is memory owned by some backend; every backend can copy from and to a HostBuffer. A
// Tensor borrows a range of a Buffer (planned memory) or shares one (constants, host tensors). Elements are row-major
// and contiguous unless a Layout says otherwise. Not thread-safe; treat like a container.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/base/check.h"
#include "engine/base/host_memory.h"
#include "engine/base/status.h"
#include "engine/tensor/dtype.h"
#include "engine/tensor/half.h"
#include "engine/tensor/layout.h"
#include "engine/tensor/shape.h"

namespace opkit {

struct TensorDesc {
  DType dtype = DType::Float32;
  Shape shape;

  int64_t elements() const { return elementCount(shape); }
  size_t sizeBytes() const { return bytesOf(dtype, elements()); }
  /// "f32[1,3,224,224]"
  std::string toString() const { return std::string(nameOf(dtype)) + opkit::toString(shape); }
  bool operator==(const TensorDesc&) const = default;
};

/// Parses "f32[8,1024]" (the inverse of TensorDesc::toString; "?" is a dynamic extent).
Result<TensorDesc> parseTensorDesc(const std::string& text);

/// A range of bytes owned by a backend.
class Buffer {
 public:
  explicit Buffer(size_t sizeBytes) : sizeBytes_(sizeBytes) {}
  virtual ~Buffer() = default;
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  size_t sizeBytes() const { return sizeBytes_; }
  /// Host address for reading and writing the bytes, or null if not accessible.
  virtual std::byte* hostData() { return nullptr; }
  /// The bytes will not be read soon: a mapped file gives up their memory and reads them again from the file.
  virtual void discard(size_t offsetBytes, size_t sizeBytes) const { (void)offsetBytes, (void)sizeBytes; }

 private:
  size_t sizeBytes_;
};

enum class Fill { Zero, None };  // of new host memory

/// Host memory, aligned to 64 bytes.
class HostBuffer final : public Buffer {
 public:
  /// OutOfMemory if the system refuses.
  static Result<std::shared_ptr<HostBuffer>> create(size_t sizeBytes, Fill fill = Fill::Zero);
  std::byte* hostData() override { return data_.get(); }

 private:
  struct Free {
    void operator()(std::byte* data) const;
  };
  HostBuffer(size_t sizeBytes, std::unique_ptr<std::byte, Free> data, HostMemoryShare counted)
      : Buffer(sizeBytes), counted_(std::move(counted)), data_(std::move(data)) {}
  HostMemoryShare counted_;
  std::unique_ptr<std::byte, Free> data_;
};

struct Tensor {
  TensorDesc desc;
  std::shared_ptr<Buffer> buffer;  // shared: planned tensors of one arena, constants of several sessions
  size_t offsetBytes = 0;
  size_t guardBytes = 0;  // writable bytes around the range that kernels must leave alone (harness only)
  Layout layout = Layout::NCHW;

  /// Allocates host memory for `desc`; of objects an empty one (objects.h). Fill::None is for callers that write every
  /// element.
  static Result<Tensor> onHost(TensorDesc desc, Fill fill = Fill::Zero);
  /// Host tensor holding a copy of `values`; REQUIRES matching element count and size.
  template <class T>
  static Result<Tensor> fromValues(TensorDesc desc, const std::vector<T>& values);

  /// The elements as stored; REQUIRES host-accessible memory and sizeof(T) == sizeOf(dtype).
  template <class T>
  std::span<T> data() const {
    OPKIT_CHECK(sizeof(T) == sizeOf(desc.dtype));
    return {reinterpret_cast<T*>(bytes().data()), sizeBytes() / sizeof(T)};
  }
  /// The tensor's bytes; REQUIRES host-accessible memory.
  std::span<std::byte> bytes() const {
    OPKIT_CHECK(buffer && buffer->hostData());
    return {buffer->hostData() + offsetBytes, sizeBytes()};
  }
  /// Bytes that the layout stores, padding included.
  size_t sizeBytes() const {
    return layout == Layout::NCHW ? desc.sizeBytes() : bytesOf(desc.dtype, storedElements(desc.shape, layout));
  }
};

template <class T>
Result<Tensor> Tensor::fromValues(TensorDesc desc, const std::vector<T>& values) {
  OPKIT_CHECK(static_cast<int64_t>(values.size()) == desc.elements());
  OPKIT_ASSIGN(Tensor tensor, onHost(std::move(desc)));
  std::copy(values.begin(), values.end(), tensor.data<T>().begin());
  return tensor;
}

/// Calls visitor(T{}) with the C++ storage type of `dtype` (Half for Float16, uint8_t for Bool). REQUIRES
/// neither isCoded(dtype), which has codes (float_format.h), nor isObject(dtype).
template <class Visitor>
decltype(auto) visitDType(DType dtype, Visitor&& visitor) {
  switch (dtype) {
    case DType::Float32: return visitor(float{});
    case DType::Float16: return visitor(Half{});
    case DType::Float64: return visitor(double{});
    case DType::Int8: return visitor(int8_t{});
    case DType::UInt8:
    case DType::Bool: return visitor(uint8_t{});
    case DType::Int16: return visitor(int16_t{});
    case DType::UInt16: return visitor(uint16_t{});
    case DType::Int32: return visitor(int32_t{});
    case DType::UInt32: return visitor(uint32_t{});
    case DType::Int64: return visitor(int64_t{});
    case DType::UInt64: return visitor(uint64_t{});
    case DType::BFloat16:
    case DType::Float8E4M3FN:
    case DType::Float8E4M3FNUZ:
    case DType::Float8E5M2:
    case DType::Float8E5M2FNUZ:
    case DType::Float8E8M0:
    case DType::Float4E2M1:
    case DType::Int4:
    case DType::UInt4:
    case DType::Int2:
    case DType::UInt2:
    case DType::String:
    case DType::Sequence:
    case DType::Optional: break;
  }
  OPKIT_CHECK(!"a dtype with a C++ type");
  std::abort();
}

/// Copies host elements between dtypes with C++ conversion rules (to bool: non-zero) and between layouts; REQUIRES
/// equal counts, and equal shapes if layouts differ.
void convertElements(const Tensor& from, const Tensor& to);

/// The elements of a host tensor of any integer or bool dtype, widened.
std::vector<int64_t> toInt64(const Tensor& tensor);

}  // namespace opkit
