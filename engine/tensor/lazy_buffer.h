// LazyBuffer: bytes that lie where no element may be read, until somebody asks for their address.
//
// An element of a file may have any address, while code reads elements at multiples of their size. hostData() of such a
// buffer copies all bytes, and keeps the copy. Who only copies bytes, or reads a constant once to pack it, saves that
// copy with the two functions below; of other tensors they return the tensor itself. Thread-safe.
#pragma once

#include "engine/tensor/tensor.h"

namespace opkit {

/// Host memory in pages of its own: the system gives a page when it is touched, and gets all back with the buffer.
/// Beside buffers that stay, memory of the heap would leave holes.
class PageBuffer final : public Buffer {
 public:
  /// OutOfMemory if the system refuses. REQUIRES at least one byte.
  static Result<std::shared_ptr<PageBuffer>> create(size_t sizeBytes);
  ~PageBuffer() override;
  std::byte* hostData() override { return data_; }

 private:
  PageBuffer(size_t sizeBytes, std::byte* data, HostMemoryShare counted)
      : Buffer(sizeBytes), data_(data), counted_(std::move(counted)) {}
  std::byte* data_;
  HostMemoryShare counted_;
};

class LazyBuffer : public Buffer {
 public:
  using Buffer::Buffer;
  /// Where the bytes are: `offsetBytes` of this buffer as a tensor of that one.
  virtual Tensor stored(const TensorDesc& desc, size_t offsetBytes) const = 0;
};

/// The tensor's bytes where they lie, for copying only: data() of the result may be unaligned.
Tensor asStored(const Tensor& tensor);
/// A tensor to read elements from, for as long as it lives. OutOfMemory if a copy is refused.
Result<Tensor> readable(const Tensor& tensor);

}  // namespace opkit
