#include "engine/tensor/lazy_buffer.h"

#include <sys/mman.h>

#include <cstring>

namespace opkit {

Result<std::shared_ptr<PageBuffer>> PageBuffer::create(size_t sizeBytes) {
  HostMemoryShare counted;
  OPKIT_TRY(counted.atLeast(sizeBytes));
  void* data = ::mmap(nullptr, sizeBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (data == MAP_FAILED) return Status::outOfMemory("the host refused {} bytes", sizeBytes);
  return std::shared_ptr<PageBuffer>(new PageBuffer(sizeBytes, static_cast<std::byte*>(data), std::move(counted)));
}

PageBuffer::~PageBuffer() { ::munmap(data_, sizeBytes()); }

Tensor asStored(const Tensor& tensor) {
  const auto* lazy = dynamic_cast<const LazyBuffer*>(tensor.buffer.get());
  return lazy ? lazy->stored(tensor.desc, tensor.offsetBytes) : tensor;
}

Result<Tensor> readable(const Tensor& tensor) {
  const Tensor stored = asStored(tensor);
  if (stored.buffer == tensor.buffer) return tensor;
  Tensor copy{tensor.desc};
  OPKIT_ASSIGN(copy.buffer, PageBuffer::create(stored.sizeBytes()));
  std::memcpy(copy.bytes().data(), stored.bytes().data(), stored.sizeBytes());
  return copy;
}

}  // namespace opkit
