// HostMemory: limits the bytes of host tensors in this process, so that a model that grows without end is an error and
// does not kill this process or another one.
//
// It counts the buffers of host tensors (HostBuffer: inputs, outputs, constants, arenas of host backends) and the
// memory in which oracles compute. The limit applies to the whole process. Thread-safe.
#pragma once

#include <cstddef>
#include <string>
#include <utility>

#include "engine/base/status.h"

namespace opkit {

/// Three quarters of the machine's memory or of the limit of the process's control group, whichever is less; 0 if
/// unknown. `root` is put before the paths of the system's files (for tests).
size_t defaultHostMemoryLimit(const std::string& root = "");

/// The limit in bytes; 0 is none. Until one is set: OPKIT_HOST_MEMORY in bytes if that is a number, else the default.
size_t hostMemoryLimit();
void setHostMemoryLimit(size_t bytes);

/// Bytes counted now.
size_t hostMemoryInUse();

/// Counts `bytes`; OutOfMemory if the limit does not allow them.
Status takeHostMemory(size_t bytes);
void giveBackHostMemory(size_t bytes);

/// Limits the growth of this process's private memory to `bytes` plus an eighth plus 1 GiB. The system then also
/// refuses memory that is not counted here, as an error (std::bad_alloc, or a driver's). 0 does nothing. For programs,
/// not libraries.
void limitProcessMemory(size_t bytes);

/// An amount that can grow and is released with its owner.
class HostMemoryShare {
 public:
  HostMemoryShare() = default;
  ~HostMemoryShare() { giveBackHostMemory(bytes_); }
  HostMemoryShare(HostMemoryShare&& other) noexcept : bytes_(std::exchange(other.bytes_, 0)) {}
  HostMemoryShare& operator=(HostMemoryShare&&) = delete;
  /// Raises the amount to `bytes`. OutOfMemory changes nothing.
  Status atLeast(size_t bytes);

 private:
  size_t bytes_ = 0;
};

}  // namespace opkit
