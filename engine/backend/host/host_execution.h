// HostExecution: base of every kernel that runs on the host; counts the runs.
#pragma once

#include "engine/backend/backend.h"

namespace opkit {

class HostExecution : public Execution {
 public:
  explicit HostExecution(Backend& backend) : backend_(backend) {}

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
