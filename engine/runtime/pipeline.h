// Pipeline: plans a model for given input shapes (resize) and runs the plan (run).
//
// Resize encodes the graph, assigns backends, places memory, and calls onResize of each Execution, segment by
// segment. Run uploads inputs, executes the steps in order, copies where backends meet, downloads outputs.
#pragma once

#include <memory>
#include <vector>

#include "engine/runtime/arena.h"
#include "engine/runtime/schedule.h"

namespace opkit {

class Pipeline {
 public:
  static Result<std::unique_ptr<Pipeline>> create(const Interpreter& interpreter, const SessionConfig& config,
                                                  Runtime& runtime);

  /// True when a plan exists for exactly these input shapes and contents.
  bool isCurrent(std::span<const Tensor> inputs) const;
  Status resize(std::span<const Tensor> inputs);
  /// Descriptions of the outputs; valid after resize.
  std::vector<TensorDesc> outputDescs() const;
  /// REQUIRES isCurrent(inputs); `outputs` are host tensors of outputDescs().
  Status run(std::span<const Tensor> inputs, std::span<const Tensor> outputs);

  Result<Tensor> readTensor(int tensor, std::span<const Tensor> inputs);
  Status checkGuards();
  std::vector<Placement> placement() const;
  void addStatistics(SessionStatistics& statistics) const;
  BackendCounters counters() const;

 private:
  Pipeline(const Interpreter& interpreter, const SessionConfig& config)
      : model_(interpreter.model()), registry_(interpreter.registry()), config_(config) {}

  void linkTensors();
  Status planScratch();
  Status placeMemory();
  Status placeConstants();
  Status resizeExecutions();
  Status copyStep(const Step& step);
  Status runSegments();
  Status readOutput(int tensor, int slot, std::span<const Tensor> inputs, const Tensor& target);
  Status collectTimes();
  void rememberInputs(std::span<const Tensor> inputs);

  const Model& model_;
  const OpRegistry& registry_;
  SessionConfig config_;
  std::shared_ptr<Runtime> referenceRuntime_;  // shared: runtimes are handed out as shared
  std::unique_ptr<Backend> reference_;
  std::unique_ptr<GraphEncoder> encoder_;
  BackendSet backends_;
  ExecutionCache executions_;

  bool planned_ = false;
  EncodedGraph graph_;
  Schedule schedule_;
  std::vector<Arena> arenas_;                               // per backend
  std::map<std::pair<int, size_t>, Tensor> constantCache_;  // (tensor, backend) -> device copy
  std::map<const Step*, Tensor> staging_;                   // host memory of copies between two devices
  std::vector<TensorDesc> plannedInputs_;
  std::vector<std::vector<std::byte>> plannedContents_;  // of the inputs that shapes depend on
  std::vector<double> deviceNs_;                         // per step, last run
};

}  // namespace opkit
