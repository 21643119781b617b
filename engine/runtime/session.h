// Interpreter and Session: load a model once, run it many times.
//
//   OPKIT_ASSIGN(auto interpreter, Interpreter::create(std::move(model), ops::builtinOps()));
//   OPKIT_ASSIGN(auto session, interpreter->createSession({.backend = "vulkan"}));
//   OPKIT_TRY(session->resizeInput("x", {1, 3, 224, 224}));
//   OPKIT_TRY(session->resize());
//   ... fill session->input("x") ...
//   OPKIT_TRY(session->run());
//   ... read session->output("y") ...
//
// An Interpreter is immutable after create and may serve sessions on several threads. A Session belongs to
// one thread at a time. Inputs and outputs are host tensors; the session moves them. Nothing is thrown: memory and
// threads that the system refuses are OutOfMemory.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/backend/backend_registry.h"
#include "engine/graph/run_passes.h"
#include "engine/model/model.h"
#include "engine/op/op_registry.h"

namespace opkit {

/// When shapes are planned for, and how often.
enum class ResizeMode {
  Direct,  // by Session::resize
  Defer,   // by the next run: resize only notes that it is wanted
  Fixed,   // once: what planning needs is freed afterwards, and a resize to other shapes is an error
};

struct InterpreterOptions {
  std::vector<std::string> disabledPasses = {};  // graph passes by name; "all" is every one
};

struct SessionConfig {
  // Or "auto": the best device there is beside the CPU, with placeByCost; the CPU alone where there is none.
  std::string backend = "cpu";
  std::string device;  // see RuntimeOptions, as the next two
  Validation validation = Validation::Off;
  std::string cacheDir;
  size_t threads = 0;  // 0 is one per core; at most kMostThreads
  RecordMode record = RecordMode::Indirect;
  Precision precision = Precision::High;  // acts on devices with a storage of their own (Vulkan); the CPU keeps f32
  ProviderPolicy providers;               // preferred, forbidden and forced providers, also on the fallback
  bool allowFallback = true;              // false: a node the backend refuses is an error, not a CPU node
  // Give each node to the backend or to the CPU by what it costs there, copies included, as measured at resize or known
  // from the caches on disk; see engine/runtime/cost_placement.h.
  bool placeByCost = false;
  bool profile = false;  // time every command on the host and, where there is a clock, on the device
  Storage storage = Storage::Auto;
  bool tune = false;  // time kernel choices that the tuning cache does not know, at resize
  ResizeMode resizeMode = ResizeMode::Direct;
  bool startOnCpu = false;            // run on the CPU until `backend` is ready, which is prepared on another thread
  size_t planCacheSize = 4;           // sets of shapes whose plans are kept, at least 1
  size_t memoryLimitBytes = 0;        // of arenas and constants on the session's devices; 0 is none
  size_t iterationLimit = 1'000'000;  // runs of a subgraph by one node of control flow in one run; 0 is none
  MemoryHint memory = MemoryHint::Normal;
  PowerHint power = PowerHint::Normal;
  // For harnesses:
  bool keepTensors = false;  // every tensor keeps its own memory and can be read after run
  size_t guardBytes = 0;     // canaries around every tensor, see Session::checkGuards
  bool poison = false;       // fill planned memory with 0xFF before every run
};

/// Where one node ran, and why not elsewhere.
struct Placement {
  std::string node;
  std::string type;     // operator type; "Copy" for inserted copies
  bool raster = false;  // a lowered operator, carried out by the backend's Raster kernel
  std::string backend;
  std::string provider;
  std::vector<Refusal> refusals;  // "backend/provider" -> reason, of every faster choice
  size_t copiedBytes = 0;         // for copies
  bool fellBack = false;          // ran on another backend than the session asked for, which refused it
  std::string cost;               // with placeByCost: "vulkan 340 us, cpu 12.1 us"; empty where there was no choice
  std::string outputs;            // descriptions, for listings
  double flops = 0;
  size_t bytesRead = 0;  // of the tensors it reads and writes, as the backend stores them
  size_t bytesWritten = 0;
  // Of the last run, with SessionConfig::profile; negative when not measured.
  double deviceNs = -1;
  double hostStartNs = -1;  // since the run began
  double hostNs = -1;       // the host's share: all of a host kernel or copy, only the submission of a device's
};

/// One command of a run as callbacks see it; valid during the call.
struct CommandInfo {
  std::string node;
  std::string type;  // operator type
  std::string backend;
  std::vector<std::string> inputs, outputs;  // names of tensors, empty where absent
  /// Host copies in the model's dtype. InvalidArgument for an index out of range or an absent tensor; outputs have
  /// values only after the command.
  std::function<Result<Tensor>(size_t)> readInput, readOutput;
};
/// False stops the run.
using CommandCallback = std::function<bool(const CommandInfo&)>;

/// With placeByCost: what one run was expected to take when the current plan was made; negative without.
struct CostEstimate {
  double chosenNs = -1;
  double allMainNs = -1;   // with every node on the session's backend that runs there
  double allOtherNs = -1;  // with every node on the CPU
};

/// Memory of a session on one backend. Host tensors and the model's own constants are not counted.
struct MemoryStatistics {
  std::string backend;
  size_t arenaBytes = 0;           // of the one buffer that all plans use in turn
  size_t constantBytes = 0;        // uploaded or packed; shared by all sessions of the Interpreter on this Runtime
  size_t plannedPeakBytes = 0;     // of the current plan in the arena
  size_t lowerBoundBytes = 0;      // largest sum of its live tensors at any moment: no plan can be smaller
  size_t dynamicBytes = 0;         // sum of its tensors and scratch whose bytes are used in turn
  size_t separateBytes = 0;        // sum of its tensors that have bytes of their own
  size_t largestScratchBytes = 0;  // of one kernel, planned among the tensors
};

struct SessionStatistics {
  size_t resizes = 0;                    // that did work
  size_t resizesUnchanged = 0;           // calls of resize and run that found the shapes unchanged
  size_t plansMade = 0;                  // for shapes not seen before, or forgotten
  size_t plansFound = 0;                 // resizes that went back to a plan that was kept
  size_t plansKept = 0;                  // now
  std::vector<MemoryStatistics> memory;  // per backend, the session's own first
  size_t plannedPeakBytes = 0;           // arena of the session's backend
  size_t lowerBoundBytes = 0;            // largest sum of live tensors at any moment
  size_t foldedNodes = 0;                // computed at resize from constants
  size_t removedRasters = 0;             // copies that region fusion saves
  size_t fusedRegions = 0;               // regions of the rasters that fusion made
  size_t partialViews = 0;               // tensors that are parts of others and were not copied out
  size_t loopRegions = 0;                // operators that run as loops (engine/op/loop_region.h)
  size_t executionsCreated = 0;          // over the life of the session
  size_t segments = 0;
  size_t inPlace = 0;         // outputs of the current plan that took over the memory of an input
  std::string runsOn;         // the backend of the last resize: "cpu" while startOnCpu prepares another
  size_t runsBeforeMove = 0;  // with startOnCpu: runs on the CPU before the session moved over
  std::string moveError;      // why it stays on the CPU; with backend "auto", why there is only the CPU
  CostEstimate estimate;      // of the current plan
  double lastResizeNs = 0;
  double lastRunNs = 0;
};

class FoldedConstants;
class PipelineCache;
class Session;
class StagedRun;
struct StagePlan;

class Interpreter {
 public:
  ~Interpreter();
  /// Takes the model after validateModel and the graph passes before lowering; InvalidArgument for an unknown pass;
  /// `registry` must outlive the Interpreter.
  static Result<std::shared_ptr<Interpreter>> create(Model model, const OpRegistry& registry,
                                                     InterpreterOptions options = {});

  Result<std::unique_ptr<Session>> createSession(const SessionConfig& config);
  /// As above on a Runtime the caller already has (sessions share its device and caches).
  Result<std::unique_ptr<Session>> createSession(const SessionConfig& config, std::shared_ptr<Runtime> runtime);

  /// The Runtime that sessions of this configuration share: made for the first, gone with the last. Thread-safe.
  Result<std::shared_ptr<Runtime>> runtimeOf(const SessionConfig& config) const;
  /// Where the sessions on `runtime` keep uploaded and packed constants; gone with the last of them. Thread-safe.
  std::shared_ptr<ConstantStore> constantsOn(const Runtime& runtime) const;
  /// What folding gave so far; gone with the last session. Thread-safe.
  std::shared_ptr<FoldedConstants> foldedConstants() const;

  const Model& model() const { return model_; }
  const OpRegistry& registry() const { return *registry_; }
  const InterpreterOptions& options() const { return options_; }
  /// What the graph passes before lowering changed, one row per pass that ran.
  const std::vector<PassCount>& passCounts() const { return passCounts_; }

 private:
  friend class Session;
  Result<std::unique_ptr<Session>> createAutoSession(SessionConfig config);
  static Result<std::shared_ptr<Interpreter>> make(Model model, const OpRegistry& registry, InterpreterOptions options);
  Interpreter(Model model, const OpRegistry& registry);
  std::weak_ptr<Interpreter> self_;                  // sessions keep their interpreter alive
  std::vector<std::shared_ptr<const void>> owners_;  // shared: plugins stay loaded while they may be called
  Model model_;
  const OpRegistry* registry_;
  InterpreterOptions options_;
  std::vector<PassCount> passCounts_;
  std::shared_ptr<const StagePlan> stages_;  // of a model with control flow, else null; shared by its sessions
  struct Shared;
  std::unique_ptr<Shared> shared_;  // what sessions have in common on each device
};

class Session {
 public:
  ~Session();

  /// Another session of the same configuration on the same Runtime, with this one's input shapes and values. Uploaded
  /// and packed constants are shared. May be called while no other call of this session is running.
  Result<std::unique_ptr<Session>> clone() const;

  /// What an input of that shape would be. Errors are those of resizeInput, which takes the shape.
  Result<TensorDesc> inputDesc(const std::string& name, const Shape& shape) const;
  /// Sets an input's shape for the next resize. InvalidArgument for an unknown name (lists the known ones)
  /// or a shape that contradicts the model's fixed extents or rank.
  Status resizeInput(const std::string& name, const Shape& shape);
  /// Plans for the current input shapes; nothing happens when they and the contents that shapes depend on
  /// are unchanged, and shapes seen before find their plan. Errors name the node; OutOfMemory when the device or
  /// memoryLimitBytes refuses. After an error the session can be resized again. A model with control flow is planned up
  /// to the first such node; what follows is planned as run learns the shapes.
  Status resize();
  /// Resizes if needed, then runs. InvalidArgument names the inputs that were given no values for their present shape:
  /// input() and bindInput() give values, a resizeInput() to another shape takes them away, an input without elements
  /// needs none. Outputs are on the host afterwards. With startOnCpu, a backend that has become
  /// ready takes over before the run. After DeviceLost every call is refused with DeviceLost; a new session on a new
  /// Runtime works.
  Status run();
  /// As run, and calls `before` and `after` (either may be empty) around every command but copies. True when it ran to
  /// the end, false when a callback stopped it: the outputs are then undefined. Backends that record run command by
  /// command for this, from a plan that is made at the first call. Nodes of control flow are commands of backend
  /// "host"; those of their bodies are called NODE/BODY/INNER and come once per iteration.
  Result<bool> runWithCallback(const CommandCallback& before, const CommandCallback& after);
  /// With startOnCpu: waits until the backend is ready and moves over. OK at once when there is nothing to wait for;
  /// otherwise why the session stays on the CPU. The stages of a model with control flow move one by one.
  Status waitForMove();

  std::vector<std::string> inputNames() const;
  std::vector<std::string> outputNames() const;
  /// The host tensor to fill, with the shape of the last resizeInput; null for an unknown name. Whoever asks for it is
  /// taken to fill it.
  Tensor* input(const std::string& name);
  /// The host tensor to read after run; null for an unknown name.
  const Tensor* output(const std::string& name) const;

  /// The host tensors to read after run, in the model's order; of a model with control flow empty before the first run.
  std::span<const Tensor> outputs() const { return outputs_; }
  /// Input i is this host tensor from now on, whatever the model declares; for callers that feed sessions from others.
  void bindInput(size_t i, Tensor value) {
    inputs_[i] = std::move(value);
    inputSet_[i] = true;
  }

  /// With keepTensors: a host copy of any tensor of the model after run, in the model's dtype. InvalidArgument
  /// for names that do not exist or were folded away without a value.
  Result<Tensor> readTensor(const std::string& name);
  /// With guardBytes: OK, or Internal naming the node outputs around which a kernel wrote, and the offset.
  Status checkGuards();

  const DeviceInfo& device() const;
  const SessionConfig& config() const { return config_; }
  /// One row per command in execution order. Valid after resize.
  std::vector<Placement> placement() const;
  SessionStatistics statistics() const;
  /// Counters summed over the session's backends.
  BackendCounters counters() const;

 private:
  friend class Interpreter;
  Session(std::shared_ptr<const Interpreter> interpreter, SessionConfig config, std::shared_ptr<Runtime> runtime);
  Status start();
  Status startPipelines();
  Status resizeNow();
  Status resizeFirstStage();
  Status runNow();
  Result<bool> runCommands(const CommandCallback& before, const CommandCallback& after);
  Status requireInputs() const;
  std::optional<size_t> findInput(const std::string& name) const;
  /// Keeps in mind that the device was lost.
  Status remember(Status status);
  Status fitOutputs();
  Result<PipelineCache*> stepwisePipelines();
  void prepareMove();
  Status moveOver();
  struct Preparation;

  std::shared_ptr<const Interpreter> interpreter_;  // shared: the model outlives every session
  SessionConfig config_;
  std::shared_ptr<Runtime> runtime_;
  std::unique_ptr<PipelineCache> pipelines_;  // of a model without control flow
  std::unique_ptr<StagedRun> staged_;         // of a model with
  std::unique_ptr<PipelineCache> stepwise_;   // made by runWithCallback where pipelines_ records whole segments
  std::unique_ptr<Preparation> preparation_;
  bool onCpu_ = false;           // startOnCpu, and not moved yet
  std::vector<Tensor> inputs_;   // host, in model order
  std::vector<bool> inputSet_;   // has been given values for its shape
  std::vector<Tensor> outputs_;  // host, in model order
  SessionStatistics statistics_;
  Status lost_;  // why nothing runs any more, once the device was lost
};

}  // namespace opkit
