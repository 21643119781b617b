// Scratch: float memory that a CPU kernel keeps between runs. It only grows, so that returning to a shape
// seen before allocates nothing. Not thread-safe.
#pragma once

#include <memory>

#include "engine/backend/backend.h"

namespace opkit::cpu {

class Scratch {
 public:
  /// Makes room for `count` floats, 64-byte aligned; contents undefined. OutOfMemory when refused.
  Status reserve(Backend& backend, int64_t count) {
    const size_t wanted = static_cast<size_t>(count) * sizeof(float);
    if (buffer_ && buffer_->sizeBytes() >= wanted) return Status::ok();
    OPKIT_ASSIGN(buffer_, backend.allocate(wanted));
    return Status::ok();
  }
  /// REQUIRES reserve.
  float* data() const { return reinterpret_cast<float*>(buffer_->hostData()); }

 private:
  std::shared_ptr<Buffer> buffer_;
};

}  // namespace opkit::cpu
