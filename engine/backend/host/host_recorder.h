// HostRecorder: the Recorder of backends whose Executions run when they are called: a list of calls.
#pragma once

#include "engine/backend/backend.h"

namespace opkit {

class HostRecorder final : public Recorder {
 public:
  HostRecorder();
  ~HostRecorder() override;
  Status add(Execution& execution, TensorList inputs, TensorList outputs) override;
  Result<std::unique_ptr<Recording>> finish() override;

 private:
  class Calls;
  std::unique_ptr<Calls> open_;
};

}  // namespace opkit
