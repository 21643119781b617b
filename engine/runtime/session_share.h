// SessionShare: what all parts of one session (its stages, the bodies of its control flow, the plans that run command
// by command) have together.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "engine/backend/backend.h"
#include "engine/runtime/session.h"

namespace opkit {

/// A part's memory on its devices.
class MemoryHolder {
 public:
  virtual ~MemoryHolder() = default;
  /// Frees the memory that the next resize of the part can take again. False if the part needs it between runs, or if
  /// another thread uses the part.
  virtual bool giveUpMemory() = 0;
};

/// Keeps the parts of a session within SessionConfig::memoryLimitBytes. Thread-safe.
class MemoryBudget {
 public:
  using Stores = std::vector<const ConstantStore*>;
  explicit MemoryBudget(size_t limitBytes) : limitBytes_(limitBytes) {}

  /// Says that `part` holds, or is about to hold, arenas of that size beside the constants in `stores`. If the limit
  /// does not allow that, the other added parts give up their memory first, unless `part` was not added. OutOfMemory
  /// changes nothing for `part`.
  Status hold(const MemoryHolder& part, size_t arenaBytes, const Stores& stores);
  /// The part freed its arenas.
  void freed(const MemoryHolder& part);
  /// The part is destroyed.
  void leave(const MemoryHolder& part);
  /// From now on the part may be asked to give up memory, and others for it: all added parts run on one thread.
  void add(MemoryHolder& part);

 private:
  struct Held {
    size_t arenaBytes = 0;
    Stores stores;
    MemoryHolder* holder = nullptr;  // null if it cannot be asked
  };
  struct Sum {
    size_t arenas = 0, constants = 0;
  };
  Sum sumWith(const MemoryHolder& part, size_t arenaBytes, const Stores& stores) const;

  const size_t limitBytes_;  // 0 is none
  std::mutex mutex_;
  std::map<const MemoryHolder*, Held> parts_;
};

struct SessionShare {
  explicit SessionShare(const SessionConfig& config)
      : memory(config.memoryLimitBytes), prepared(config.memoryLimitBytes) {
    backends->pool = config.pool;
  }

  std::shared_ptr<BackendShare> backends = std::make_shared<BackendShare>();  // shared with the Backends
  MemoryBudget memory;
  MemoryBudget prepared;            // of a backend that another thread prepares: the CPU's memory is freed for it
  uint64_t lastVersion = 0;         // of the values that cross parts, see Session::bindInput; for the session's thread
  std::atomic<bool> ending{false};  // the session is being destroyed: whoever prepares it stops
};

}  // namespace opkit
