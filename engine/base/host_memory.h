// HostMemory: how many bytes of host tensors this process may hold, so that a model that grows without end is an error
// and not the end of the process, or of another one.
//
// Counted are the buffers of host tensors (HostBuffer: inputs, outputs, constants, arenas of backends that compute on
// the host) and the memory in which oracles compute. The limit is of the whole process, whatever runs in it.
// Thread-safe.
#pragma once

#include <cstddef>
#include <string>

#include "engine/base/status.h"

namespace opkit {

/// Three quarters of the machine's memory or of what the process's control group may use, whichever is less; 0 where
/// the system does not say. `root` stands before the paths of the system's files (for tests).
size_t defaultHostMemoryLimit(const std::string& root = "");

/// The limit in bytes; 0 is none. Until one is set: OPKIT_HOST_MEMORY in bytes where that is a number, else the
/// default.
size_t hostMemoryLimit();
void setHostMemoryLimit(size_t bytes);

/// Bytes counted now.
size_t hostMemoryInUse();

/// Counts `bytes`, or OutOfMemory when the limit does not allow them.
Status takeHostMemory(size_t bytes);
void giveBackHostMemory(size_t bytes);

/// Lets this process have `bytes`, an eighth and a GiB more private memory than it has now: the system then refuses
/// what is not counted here, which is an error too (std::bad_alloc, a driver's own). 0 does nothing. For programs, not
/// libraries.
void limitProcessMemory(size_t bytes);

/// An amount that grows and is given back with its owner.
class HostMemoryShare {
 public:
  HostMemoryShare() = default;
  ~HostMemoryShare() { giveBackHostMemory(bytes_); }
  HostMemoryShare(const HostMemoryShare&) = delete;
  HostMemoryShare& operator=(const HostMemoryShare&) = delete;
  /// Counts what is missing to `bytes`. OutOfMemory changes nothing.
  Status atLeast(size_t bytes);

 private:
  size_t bytes_ = 0;
};

}  // namespace opkit
