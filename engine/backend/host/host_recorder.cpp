#include "engine/backend/host/host_recorder.h"

namespace opkit {

class HostRecorder::Calls final : public Recording {
 public:
  void add(Execution& execution, TensorList inputs, TensorList outputs) {
    calls_.push_back({execution, inputs, outputs});
  }
  Status run() override {
    for (const Call& call : calls_) OPKIT_TRY(call.execution.onExecute(call.inputs, call.outputs));
    return Status::ok();
  }

 private:
  struct Call {
    Execution& execution;
    TensorList inputs, outputs;
  };
  std::vector<Call> calls_;
};

HostRecorder::HostRecorder() = default;
HostRecorder::~HostRecorder() = default;

Status HostRecorder::add(Execution& execution, TensorList inputs, TensorList outputs) {
  OPKIT_TRY(execution.onResize(inputs, outputs));
  if (!open_) open_ = std::make_unique<Calls>();
  open_->add(execution, inputs, outputs);
  return Status::ok();
}

Result<std::unique_ptr<Recording>> HostRecorder::finish() {
  if (!open_) open_ = std::make_unique<Calls>();
  return std::unique_ptr<Recording>(std::move(open_));
}

}  // namespace opkit
