// PipelineCache: a session's pipelines, one per set of input shapes, the latest used first.
//
// Going back to shapes seen before finds the pipeline planned and its commands recorded. All of them use the same
// arenas, since only one runs at a time: memory is that of the largest. When an arena must grow, the others' places
// in the old one are given up and taken again when they are next used, which creates no Execution and no pipeline
// of the device. The oldest pipeline is dropped for a new one, which inherits its Executions.
#pragma once

#include <list>

#include "engine/runtime/pipeline.h"

namespace opkit {

class PipelineCache {
 public:
  static Result<std::unique_ptr<PipelineCache>> create(const Interpreter& interpreter, const SessionConfig& config,
                                                       const std::shared_ptr<Runtime>& runtime);
  ~PipelineCache();

  /// True when current() was planned for exactly these input shapes, and contents that shapes depend on.
  bool isCurrent(std::span<const Tensor> inputs) const;
  /// Makes current() a pipeline for these inputs. On an error there is none.
  Status resize(std::span<const Tensor> inputs);
  /// REQUIRES a resize that succeeded.
  Pipeline& current() { return *pipelines_.front(); }
  bool hasCurrent() const { return hasCurrent_; }
  /// Forgets what only another resize needs. Later calls of resize() for new shapes are an InvalidArgument.
  void fix();

  /// Whether every command has run when its turn is over, so that its results can be read.
  bool runsStepwise() const;
  const std::string& mainName() const { return parts_.backends.main().name(); }
  void addStatistics(SessionStatistics& statistics) const;
  BackendCounters counters() const;

 private:
  explicit PipelineCache(const Interpreter& interpreter, const SessionConfig& config);
  Status plan(std::span<const Tensor> inputs);
  Status bindCurrent();
  Status checkLimit(const Pipeline& pipeline) const;
  void giveUpPlaces();
  size_t constantBytes() const;

  PipelineParts parts_;
  std::list<std::unique_ptr<Pipeline>> pipelines_;  // the current one first
  bool hasCurrent_ = false;
  bool fixed_ = false;
  size_t nextId_ = 0;
  size_t planned_ = 0;
  size_t found_ = 0;
};

}  // namespace opkit
