// RunCallbacks: the caller's callbacks around the commands of one run. A callback may throw; the next run must not find
// its address.
#pragma once

#include "engine/runtime/session.h"

namespace opkit {

struct RunCallbacks {
  const CommandCallback* before = nullptr;  // null if the run has none
  const CommandCallback* after = nullptr;
  bool stopped = false;  // by one of them

  /// Sets the callbacks as long as it lives. Empty ones count as none.
  class Scope {
   public:
    Scope(RunCallbacks& callbacks, const CommandCallback& before, const CommandCallback& after)
        : callbacks_(callbacks) {
      callbacks_ = {before ? &before : nullptr, after ? &after : nullptr};
    }
    ~Scope() { callbacks_ = {}; }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    RunCallbacks& callbacks_;
  };
};

}  // namespace opkit
