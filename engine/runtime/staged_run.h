// StagedRun: runs a model of several stages (engine/graph/stages.h), one after the other, inside a Session.
//
// Each stage and each subgraph is a Session of its own on the same device, so its plans are kept like any other's. They
// share threads, staging memory and the limit of memory (session_share.h).
// Values that cross stages, conditions and trip counts are on the host. Used by one thread at a time.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "engine/op/control.h"
#include "engine/runtime/pipeline.h"
#include "engine/runtime/run_callbacks.h"

namespace opkit {

/// The part that sessions share: an Interpreter per stage and per subgraph. Immutable.
struct StagePlan {
  struct Control {
    NodeId node;  // in the whole model
    std::vector<std::shared_ptr<Interpreter>> subgraphs;
  };
  struct Step {
    std::shared_ptr<Interpreter> interpreter;  // null if nothing runs before its control flow
    std::vector<TensorId> inputs;              // tensors of the whole model
    std::vector<TensorId> outputs;
    std::vector<Control> control;
  };
  std::vector<Step> steps;

  static Result<std::shared_ptr<const StagePlan>> create(const Model& model, const OpRegistry& registry,
                                                         const InterpreterOptions& options);
};

class StagedRun {
 public:
  static Result<std::unique_ptr<StagedRun>> create(const Interpreter& interpreter, const StagePlan& plan,
                                                   const SessionConfig& config, const std::shared_ptr<Runtime>& runtime,
                                                   const std::shared_ptr<SessionShare>& share);
  ~StagedRun();

  /// Plans the first stage, the only one with known shapes; false if there was nothing to do.
  Result<bool> resize(const RunInputs& inputs);
  /// See Session::plannedOutputs.
  Result<std::vector<TensorDesc>> outputDescs(const RunInputs& inputs);
  /// The outputs of the whole model, on the host.
  Result<std::vector<Tensor>> run(const RunInputs& inputs);
  /// As run, with callbacks (see Session::runWithCallback); nullopt if one of them stopped it.
  Result<std::optional<std::vector<Tensor>>> runWith(const CommandCallback& before, const CommandCallback& after,
                                                     const RunInputs& inputs);
  /// With startOnCpu: waits until all planned stages and bodies have moved; an error is the first reason why one stays.
  Status waitForMove();
  /// The backend of all planned parts; "cpu" until all of them have moved.
  std::string runsOn() const;

  Result<Tensor> readTensor(const std::string& name);
  Status checkGuards();
  std::vector<Placement> placement() const;
  void addStatistics(SessionStatistics& statistics) const;
  BackendCounters counters() const;

 private:
  struct Control;
  struct Step;

  StagedRun(const Model& model, const SessionConfig& config, std::shared_ptr<SessionShare> share);
  void start(const RunInputs& inputs);
  void setValue(TensorId tensor, Tensor value, uint64_t version = 0);
  Status bind(Step& step);
  Result<std::vector<Tensor>> ownOutputs(std::span<const Tensor> inputs) const;
  Status runPart(Session& session, const std::string& prefix);
  Status runControl(Control& control);
  Status evaluate(Control& control);
  Status call(const CommandCallback* callback, const Control& control);
  template <class Visit>
  void forEachSession(Visit&& visit) const;

  const Model& model_;
  std::string backend_;                  // the session's
  std::shared_ptr<SessionShare> share_;  // with all parts of the session
  std::vector<Step> steps_;
  RunCallbacks callbacks_;
  IndexedVector<TensorId, Tensor> values_;      // on the host; without a buffer until known
  IndexedVector<TensorId, uint64_t> versions_;  // of those, see Session::bindInput
  std::set<const Buffer*> constants_;           // of the model
};

}  // namespace opkit
