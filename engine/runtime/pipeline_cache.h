// PipelineCache: a session's pipelines, one per set of input shapes, most recently used first.
//
// For known shapes the pipeline is already planned and its commands are recorded. All pipelines use the same arenas,
// since only one runs at a time: the largest determines the memory. When an arena must grow, the other pipelines lose
// their memory and get new memory at their next use, which creates no Execution and no device pipeline. The oldest
// pipeline is dropped for a new one, which inherits its Executions. Those that the new one has no use for are kept, at
// most as many as the kept pipelines would have if each were as long as the longest so far: plans without steps (an
// empty extent) destroy nothing, and a walk through twice as many shapes as there are plans finds its Executions again.
// An Execution with shapes in its key (a raster's regions) serves one shape alone, so longer walks make it anew.
#pragma once

#include <list>

#include "engine/runtime/pipeline.h"
#include "engine/runtime/session_share.h"

namespace opkit {

class PipelineCache final : public MemoryHolder {
 public:
  /// `budget` is one of those in `share`.
  static Result<std::unique_ptr<PipelineCache>> create(const Interpreter& interpreter, const SessionConfig& config,
                                                       const std::shared_ptr<Runtime>& runtime,
                                                       std::shared_ptr<SessionShare> share, MemoryBudget& budget);
  ~PipelineCache() override;

  /// True if current() was planned for exactly these input shapes and the contents that shapes depend on.
  bool isCurrent(std::span<const Tensor> inputs) const;
  /// Makes planned() a pipeline for these inputs, without memory and recordings. There is no current one until resize.
  Status plan(std::span<const Tensor> inputs);
  /// REQUIRES a plan that succeeded.
  const Pipeline& planned() const { return *pipelines_.front(); }
  /// Makes current() a pipeline for these inputs. After an error there is no current pipeline.
  Status resize(const RunInputs& inputs);
  /// REQUIRES a resize that succeeded.
  Pipeline& current() { return *pipelines_.front(); }
  bool hasCurrent() const { return hasCurrent_; }
  /// The positions of the inputs whose contents shapes depend on.
  std::span<const size_t> watchedInputs() const { return parts_.watched; }

  /// From now on another part of the session may ask for this one's memory. Called by the session's thread.
  void joinSession() { budget_.add(*this); }
  MemoryBudget& budget() const { return budget_; }
  bool giveUpMemory() override;

  const std::string& mainName() const { return parts_.backends.main().name(); }
  void addStatistics(SessionStatistics& statistics) const;
  BackendCounters counters() const;

 private:
  PipelineCache(const Interpreter& interpreter, const SessionConfig& config, std::shared_ptr<SessionShare> share,
                MemoryBudget& budget);
  Status add(std::span<const Tensor> inputs);
  Status bindCurrent(const RunInputs& inputs);
  Status takeMemory();
  Status hold(bool onlyCurrent);
  void keepOnlyCurrent();
  void dropUnused();
  void giveUpPlaces();
  void freeMemory();

  PipelineParts parts_;
  MemoryBudget& budget_;
  std::list<std::unique_ptr<Pipeline>> pipelines_;  // the current one first
  bool hasCurrent_ = false;
  size_t mostSteps_ = 0;  // of one plan so far
  size_t planned_ = 0;
  size_t found_ = 0;
};

}  // namespace opkit
