// KeepsOutputs: for Executions of host backends that look at their outputs before a run. As for inputs, the outputs of
// a model are the caller's memory: they have none in onResize, and may move from run to run.
#pragma once

namespace opkit {

/// A base beside Execution.
class KeepsOutputs {
 public:
  virtual ~KeepsOutputs() = default;
  /// True if the outputs must be in memory in onResize, and stay there: the pipeline copies them to the caller.
  virtual bool keepsOutputs() const = 0;
};

}  // namespace opkit
