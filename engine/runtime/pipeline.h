// Pipeline: the plan of a model for one set of input shapes, and how to run it.
//
// plan() encodes the graph, assigns backends and decides where tensors go; bind() gives them memory and records the
// Executions, segment by segment; run() uploads inputs, runs the recordings and copies in order, downloads outputs.
// PipelineCache keeps the pipelines of a session, which share its backends and arenas.
#pragma once

#include <memory>
#include <vector>

#include "engine/runtime/arena.h"
#include "engine/runtime/run_callbacks.h"
#include "engine/runtime/schedule.h"
#include "engine/runtime/session_share.h"

namespace opkit {

/// The host tensors of a run, with their versions (Session::bindInput), in the order of the model's inputs.
struct RunInputs {
  std::span<const Tensor> tensors;
  std::span<const uint64_t> versions;
};

class Pipeline;

/// State shared by the pipelines of one session.
struct PipelineParts {
  const Model& model;
  const OpRegistry& registry;
  std::span<const InputSource> sources;  // of the Interpreter
  SessionConfig config;
  std::shared_ptr<SessionShare> share;                  // by all parts of the session
  std::shared_ptr<Runtime> referenceRuntime = nullptr;  // shared: runtimes are returned as shared_ptr
  std::unique_ptr<Backend> reference = nullptr;
  std::unique_ptr<GraphEncoder> encoder = nullptr;
  std::vector<size_t> watched = {};  // inputs whose contents shapes depend on, as positions
  BackendSet backends = {};
  ExecutionPool executions = {};                                     // of all plans
  IndexedVector<BackendIndex, std::shared_ptr<Buffer>> arenas = {};  // shared with the tensors placed there
  const Pipeline* lastRun = nullptr;                                 // the one whose values the arenas hold
};

/// The host's clock over the steps of the last run; -1 if not measured.
struct HostTimes {
  struct Step {
    double startNs = -1;  // since runStart
    double durationNs = -1;
  };
  double runStart = 0;  // nowNs()
  IndexedVector<StepId, Step> steps;
};

class Pipeline {
 public:
  explicit Pipeline(PipelineParts& parts);
  ~Pipeline();

  /// True if the plan is for exactly these input shapes and contents.
  bool fits(std::span<const Tensor> inputs) const;
  Status plan(std::span<const Tensor> inputs);
  /// Bytes that bind() needs in the arena of a backend.
  size_t arenaBytes(BackendIndex backend) const { return arenas_.contains(backend) ? arenas_[backend].sizeBytes() : 0; }
  /// Takes memory and records, unless already done. REQUIRES arenas of arenaBytes() and fits(inputs).
  Status bind(const RunInputs& inputs);
  bool isBound() const { return bound_; }
  /// Gives up memory and recordings, until the next bind().
  void unbind();

  /// Descriptions of the outputs.
  std::vector<TensorDesc> outputDescs() const;
  /// REQUIRES bind() and fits(inputs); `outputs` are host tensors of outputDescs().
  Status run(const RunInputs& inputs, std::span<const Tensor> outputs);
  /// As run, with callbacks around every command but copies. False, and no outputs, if a callback returned false.
  Result<bool> runWith(const CommandCallback& before, const CommandCallback& after, const RunInputs& inputs,
                       std::span<const Tensor> outputs);

  Result<Tensor> readTensor(TensorId tensor, std::span<const Tensor> inputs);
  Status checkGuards();
  std::vector<Placement> placement() const;
  void addStatistics(SessionStatistics& statistics) const;
  void addMemory(BackendIndex backend, MemoryStatistics& memory) const {
    arenas_[backend].addMemory(schedule_, memory);
  }
  size_t stepCount() const { return schedule_.steps.size(); }

 private:
  void rememberInputs(std::span<const Tensor> inputs);
  Result<std::vector<Tensor>> keepContents(std::span<const Tensor> inputs) const;
  void linkTensors();
  Status planScratch();
  Status placeMemory();
  void placeViews();
  void placeCallersViews();
  Status borrow(const RunInputs& inputs);
  void lend(std::span<const Tensor> outputs);
  void giveBack();
  Status giveInputs(const RunInputs& inputs);
  Status runOn(const RunInputs& inputs, std::span<const Tensor> outputs);
  size_t inputOf(const Slot& slot) const;
  Status placeConstants();
  Status placeConstant(Slot& slot);
  Tensor scratchOf(const KernelStep& step) const;
  bool splits(const KernelStep& step) const;
  Status record(bool stepwise);
  Status recordAs(bool stepwise);
  Status prepare(CopyStep& step) const;
  Status copy(const CopyStep& step);
  std::string describe(const KernelStep& step) const;
  Status runSteps();
  bool isStoppedBy(const CommandCallback* callback, const KernelStep& step);
  Placement placementOf(const CopyStep& step) const;
  Placement placementOf(const KernelStep& step) const;
  void findMakers();
  Result<Tensor> readSlot(const std::vector<SlotId>& slots, size_t index);
  bool isLent(size_t output) const;
  Status readOutput(TensorId tensor, SlotId slot, std::span<const Tensor> inputs, const Tensor& target);
  Status collectTimes();

  PipelineParts& parts_;
  const Model& model_;
  const SessionConfig& config_;
  BackendSet& backends_;

  bool bound_ = false;
  EncodedGraph graph_;
  Schedule schedule_;
  IndexedVector<BackendIndex, Arena> arenas_;
  bool stepwise_ = false;                                         // every step was recorded alone
  IndexedVector<StepId, std::unique_ptr<Recording>> recordings_;  // of the steps since the last one; else null
  HostTimes hostTimes_;
  std::vector<TensorDesc> plannedInputs_;
  std::vector<std::vector<std::byte>> plannedContents_;  // of the watched inputs
  RunCallbacks callbacks_;
  IndexedVector<StepId, double> deviceNs_;  // last run
  IndexedVector<TensorId, SlotId> madeIn_;  // the last slot that a command makes; filled by readTensor
};

}  // namespace opkit
