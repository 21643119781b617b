// MappedFile: a file in memory whose pages the system reads when they are touched and may drop at any time.
#pragma once

#include <span>
#include <string>

#include "engine/tensor/tensor.h"

namespace opkit {

/// For reading only: a write through hostData ends the process. The file must keep its size while it is mapped; replace
/// it by renaming another one, as writeFile does. Not counted as host memory.
class MappedFile final : public Buffer {
 public:
  /// InvalidArgument names a path that cannot be read or is no regular file.
  static Result<std::shared_ptr<MappedFile>> open(const std::string& path);
  ~MappedFile() override;

  std::byte* hostData() override { return data_; }
  void discard(size_t offsetBytes, size_t sizeBytes) const override;
  std::span<const uint8_t> contents() const { return {reinterpret_cast<const uint8_t*>(data_), sizeBytes()}; }

 private:
  MappedFile(size_t sizeBytes, std::byte* data) : Buffer(sizeBytes), data_(data) {}
  std::byte* data_;
};

/// The constant of `bytes`, copied; bools become 0 or 1. REQUIRES desc.sizeBytes() bytes.
Result<Tensor> constantFrom(std::span<const uint8_t> bytes, const TensorDesc& desc);

/// The constant at `offsetBytes` of a file, in place if its elements are aligned there and need no change. Large ones
/// that are not aligned get a LazyBuffer, whose memory counts from the beginning. REQUIRES desc.sizeBytes() bytes from
/// there on.
Result<Tensor> constantIn(const std::shared_ptr<MappedFile>& file, size_t offsetBytes, const TensorDesc& desc);

}  // namespace opkit
