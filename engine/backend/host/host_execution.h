// HostExecution: base of every kernel that runs on the host; keeps the backend's counters right.
#pragma once

#include "engine/backend/backend.h"

namespace opkit {

class HostExecution : public Execution {
 public:
  explicit HostExecution(Backend& backend) : backend_(backend) { ++backend.counters().executionsCreated; }

  Status onExecute(TensorList inputs, TensorList outputs) final {
    ++backend_.counters().dispatches;
    return onRun(inputs, outputs);
  }

 protected:
  /// The work of onExecute: allocates nothing.
  virtual Status onRun(TensorList inputs, TensorList outputs) = 0;

 private:
  Backend& backend_;
};

}  // namespace opkit
