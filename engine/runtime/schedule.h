// Schedule: encoded commands assigned to backends, with copies inserted and segments numbered.
//
// A Slot is one tensor on one backend in one layout. A Step is one thing to do at run: execute on a backend, copy a
// tensor between two, or convert one between layouts on its backend (an Execution without a command). Every pipeline
// has a schedule of its own.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/graph/encoder.h"
#include "engine/runtime/command_view.h"
#include "engine/runtime/session.h"

namespace opkit {

using SlotId = Index<struct SlotTag>;
using StepId = Index<struct StepTag>;

/// The kind of memory of a slot.
enum class StorageClass {
  Static,           // written once, shared by all plans and sessions: constants
  Dynamic,          // planned: the bytes are reused by other tensors
  DynamicSeparate,  // planned, but the bytes are not reused: the slot must outlive its last use in a run
};

struct Slot {
  enum class Kind {
    Planned,   // arena memory, written by a step
    Input,     // arena memory, written by the host before each run
    Constant,  // separate memory, written at resize
    Unread,    // a description without memory: the Execution keeps its own copy
    View,      // the memory of slot `owner`
    Scratch,   // arena memory of one step, see Execution::scratchBytes
  };
  Kind kind = Kind::Planned;
  StorageClass storage = StorageClass::Dynamic;
  TensorId tensor;
  BackendIndex backend = kMainBackend;
  SlotId owner;                // for views
  size_t viewOffsetBytes = 0;  // for views: where the view begins in the owner
  StepId first{0};             // lifetime
  StepId last{0};
  Tensor device;
  std::shared_ptr<const Tensor> shared;  // of a constant of the ConstantStore, which knows by this that it is used

  /// True if it has its own range in the arena of its backend.
  bool isPlaced() const { return kind == Kind::Planned || kind == Kind::Input || kind == Kind::Scratch; }
};

struct Step {
  BackendIndex backend = kMainBackend;
  const EncodedCommand* command = nullptr;  // null for copies and conversions
  Execution* execution = nullptr;           // null for copies
  std::string provider, kernel;             // of the Creator
  std::vector<Refusal> refusals;
  std::string cost;             // with placeByCost: the alternatives
  bool byCost = false;          // not on the session's backend because that costs less
  std::vector<SlotId> inputs;   // absent ones included; the source of a copy
  std::vector<SlotId> outputs;  // unused ones included; the destination of a copy
  SlotId scratch;
  std::optional<size_t> scratchBytes;  // filled if the choice of the kernel needed it
  size_t segment = 0;
  std::vector<const Tensor*> inputTensors;  // of `inputs`; set by linkTensors
  std::vector<const Tensor*> outputTensors;

  bool isCopy() const { return execution == nullptr; }
  bool isConversion() const { return execution != nullptr && command == nullptr; }
};

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

/// The Executions of one pipeline, by (node, output ordinal, backend, Creator). The parts of a composite node move with
/// its shapes, so an entry also knows what its Execution was made for: parameters, types and constants; a pipeline for
/// other shapes inherits them.
class ExecutionCache {
 public:
  /// The cached Execution if the same Creator made it, else a new one.
  Result<Execution*> get(const EncodedCommand& command, BackendIndex backendIndex, Backend& backend,
                         const Creator* creator, const CreateArgs* args);
  /// The one that makes `tensor` of `layout` on its backend.
  Result<Execution*> conversion(TensorId tensor, BackendIndex backendIndex, Layout layout, Backend& backend);
  size_t created() const { return created_; }

 private:
  struct Key {
    NodeId node;
    size_t ordinal;
    BackendIndex backend;
    const Creator* creator;  // null for rasters
    auto operator<=>(const Key&) const = default;
  };
  /// A large constant, by the memory that holds it.
  struct Held {
    size_t input;
    std::weak_ptr<Buffer> buffer;  // no address: memory may be used again
    size_t offsetBytes;
  };
  struct Entry {
    ParamBytes params;            // of a part of a decomposed node
    std::vector<uint8_t> values;  // operands by type; planned values and small constants by value
    std::vector<Held> constants;  // the other constants
    std::unique_ptr<Execution> execution;
  };
  static std::vector<uint8_t> valuesOf(const CreateArgs& args);
  static std::vector<Held> constantsOf(const CreateArgs& args);
  static bool same(std::span<const Held> a, std::span<const Held> b);
  std::map<Key, Entry> entries_;
  std::map<std::tuple<TensorId, BackendIndex, Layout>, std::unique_ptr<Execution>> conversions_;
  size_t created_ = 0;
};

struct Schedule {
  IndexedVector<SlotId, Slot> slots;
  IndexedVector<StepId, Step> steps;
  size_t segments = 0;
  size_t inPlace = 0;           // outputs that took over the memory of an input
  CostEstimate estimate;        // with placeByCost
  std::vector<SlotId> outputs;  // per model output: its slot, absent if its value is known on the host

  /// Steps follow each other: a segment is a run of them on one backend.
  bool beginsSegment(const Step& step) const { return &step == &steps.front() || (&step)[-1].segment != step.segment; }
  bool endsSegment(const Step& step) const { return &step == &steps.back() || (&step)[1].segment != step.segment; }
};

/// Builds the schedule of an encoded graph. Unsupported, with every refusal, if no backend runs a node. Stops with an
/// error once `ending` is true.
Result<Schedule> makeSchedule(const Model& model, const EncodedGraph& graph, const SessionConfig& config,
                              BackendSet& backends, ExecutionCache& executions, const std::atomic<bool>& ending);

/// An error once the session is being destroyed.
Status requireSession(const std::atomic<bool>& ending);

}  // namespace opkit
