// Schedule: encoded commands assigned to backends, with copies inserted and segments numbered.
//
// A Slot is one tensor on one backend in one layout. A Step is one thing to do at run: run a kernel on a backend, or
// copy a tensor between two. Every pipeline has a schedule of its own.
#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "engine/graph/encoder.h"
#include "engine/runtime/command_view.h"
#include "engine/runtime/execution_pool.h"
#include "engine/runtime/session.h"

namespace opkit {

using SlotId = Index<struct SlotTag>;
using StepId = Index<struct StepTag>;

struct Slot {
  enum class Kind {
    Planned,   // arena memory, written by a step
    Input,     // arena memory, written by the host before each run
    Borrowed,  // an input that a host backend reads where the caller has it; without memory between runs
    Lent,      // an output that a host backend writes where the caller wants it; without memory between runs
    Constant,  // separate memory, written at resize
    Unread,    // a description without memory: the Execution keeps its own copy
    View,      // the memory of slot `owner`
    Scratch,   // arena memory of one step, see Execution::scratchBytes
  };
  Kind kind = Kind::Planned;
  bool isReused = true;  // its bytes by other slots, after its last use in a run
  bool isKept = false;   // of an input: its bytes stay from run to run
  uint64_t version = 0;  // of an input: the value that its bytes are, see Session::bindInput
  TensorId tensor;
  BackendIndex backend = kMainBackend;
  SlotId owner;                // for views
  size_t viewOffsetBytes = 0;  // for views: where the view begins in the owner
  size_t output = 0;           // of a lent one: its position among the model's outputs
  StepId first{0};             // lifetime
  StepId last{0};
  Tensor device;
  Tensor aligned;                        // of a borrowed input whose value is not aligned: a copy
  std::shared_ptr<const Tensor> shared;  // of a constant of the ConstantStore, which knows by this that it is used

  /// True if it has its own range in the arena of its backend.
  bool isPlaced() const { return kind == Kind::Planned || kind == Kind::Input || kind == Kind::Scratch; }
};

/// Why a kernel runs a command, for reports.
struct Reason {
  std::vector<Refusal> refusals;
  std::string cost;     // with placeByCost: the alternatives
  bool byCost = false;  // not on the session's backend because that costs less
};

/// Runs an Execution on its backend.
struct KernelStep {
  const EncodedCommand* command;  // of the graph, or one of Schedule::conversions
  BackendIndex backend;
  const Creator* creator;
  ExecutionPool::Lease execution;
  Reason reason = {};
  std::optional<size_t> scratchBytes = {};  // filled if the choice of the kernel needed it
  std::vector<SlotId> inputs = {};          // absent ones included
  std::vector<SlotId> outputs = {};         // unused ones included
  SlotId scratch = {};
  bool endsSegment = false;                      // a segment is a run of kernels on one backend
  std::vector<const Tensor*> inputTensors = {};  // of `inputs`; set by linkTensors
  std::vector<const Tensor*> outputTensors = {};

  bool isConversion() const { return !command->node; }
};

/// Copies a tensor between two backends.
struct CopyStep {
  SlotId from, to;
  Tensor staging = {};  // host memory, if neither backend's is
};

using Step = std::variant<KernelStep, CopyStep>;

/// The backends of one session: the requested one, and the CPU once something fell back.
class BackendSet {
 public:
  BackendSet() = default;
  static Result<BackendSet> create(const Interpreter& interpreter, const SessionConfig& config,
                                   const std::shared_ptr<Runtime>& runtime, std::shared_ptr<BackendShare> share);

  Backend& main() const { return *backends_.front(); }
  Backend& at(BackendIndex index) const { return *backends_[index]; }
  size_t size() const { return backends_.size(); }
  IndexRange<BackendIndex> ids() const { return backends_.ids(); }
  /// The CPU backend, made on first use.
  Result<BackendIndex> fallback();
  Runtime& runtime(BackendIndex index) const { return index == kMainBackend ? *runtime_ : *cpuRuntime_; }
  /// Another Backend of that kind, for trials: it records at once and has a clock.
  Result<std::unique_ptr<Backend>> twin(BackendIndex index) const;

 private:
  BackendConfig configOf(BackendIndex index) const;

  const Interpreter* interpreter_ = nullptr;
  SessionConfig config_;
  std::shared_ptr<BackendShare> share_;  // shared with the backends of the session's other parts
  IndexedVector<BackendIndex, std::unique_ptr<Backend>> backends_;
  std::shared_ptr<Runtime> runtime_;     // shared: runtimes are returned as shared_ptr
  std::shared_ptr<Runtime> cpuRuntime_;  // shared like the above
};

struct Schedule {
  IndexedVector<SlotId, Slot> slots;
  IndexedVector<StepId, Step> steps;
  std::deque<EncodedCommand> conversions;  // between layouts, without a node; steps point at them
  size_t segments = 0;
  size_t inPlace = 0;           // outputs that took over the memory of an input
  CostEstimate estimate;        // with placeByCost
  std::vector<SlotId> outputs;  // per model output: its slot, absent if its value is known on the host
};

/// Builds the schedule of an encoded graph. `sources` are InterpreterOptions::sources. Unsupported, with every refusal,
/// if no backend runs a node. Stops with an error once `ending` is true.
Result<Schedule> makeSchedule(const Model& model, const EncodedGraph& graph, const SessionConfig& config,
                              std::span<const InputSource> sources, BackendSet& backends, ExecutionPool& executions,
                              const std::atomic<bool>& ending);

/// An error once the session is being destroyed.
Status requireSession(const std::atomic<bool>& ending);

}  // namespace opkit
