// Interpreter and Session: load a model once, run it many times.
//
//   OPKIT_ASSIGN(auto interpreter, Interpreter::create(std::move(model), ops::builtinOps()));
//   OPKIT_ASSIGN(auto session, interpreter->createSession({.backend = "vulkan"}));
//   OPKIT_TRY(session->resizeInput("x", {1, 3, 224, 224}));
//   OPKIT_TRY(session->resize());
//   ... fill session->fillInput("x") ...
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

/// Who gives an input its value: the caller, the run of a model of several parts or, for a body, what is around its
/// node: the same value in each run of the body.
enum class InputSource : uint8_t { Caller, Run, Capture };

struct InterpreterOptions {
  std::vector<std::string> disabledPasses = {};  // graph passes by name; "all" is every one
  std::vector<InputSource> sources = {};         // of the inputs of a part of another model; empty: the caller
};

struct SessionConfig {
  // Or "auto": the best device besides the CPU, with placeByCost; the CPU alone if there is no device.
  std::string backend = "cpu";
  std::string device;  // see RuntimeOptions, as the next two
  Validation validation = Validation::Off;
  std::string cacheDir;
  size_t threads = 0;                          // 0 is one per core; at most kMostThreads
  std::shared_ptr<ThreadPool> pool = nullptr;  // of the CPU's kernels, in place of one with `threads`; may be shared
  RecordMode record = RecordMode::Indirect;
  Precision precision = Precision::High;  // affects devices with their own storage (Vulkan); the CPU keeps f32
  ProviderPolicy providers;               // preferred, forbidden and forced providers, also on the fallback
  bool allowFallback = true;              // false: a node the backend refuses is an error, not a CPU node
  // Place each node on the backend or on the CPU, whichever costs less, copies included. Costs are measured at resize
  // or read from the caches on disk; see engine/runtime/cost_placement.h.
  bool placeByCost = false;
  bool profile = false;  // time every command on the host and, if it has a clock, on the device
  Storage storage = Storage::Auto;
  bool tune = false;                  // at resize, time kernel choices that the tuning cache lacks
  bool startOnCpu = false;            // run on the CPU while another thread prepares `backend`
  size_t planCacheSize = 4;           // sets of shapes whose plans are kept, at least 1
  size_t memoryLimitBytes = 0;        // of arenas and constants, of all stages and bodies together; 0 is none
  size_t iterationLimit = 1'000'000;  // runs of a subgraph by one node of control flow in one run; 0 is none
  MemoryHint memory = MemoryHint::Normal;
  PowerHint power = PowerHint::Normal;
  // For harnesses:
  bool keepTensors = false;  // every tensor keeps its own memory and can be read after run
  size_t guardBytes = 0;     // canaries around every tensor, see Session::checkGuards
  bool poison = false;       // fill planned memory with poisonByte before every run
  uint8_t poisonByte = 0xFF;
  std::optional<size_t> alternative = std::nullopt;  // see BackendConfig
};

/// Where one node ran, and the refusals of faster choices.
struct Placement {
  std::string node;
  std::string type;     // operator type; "Copy" for inserted copies
  bool raster = false;  // a lowered operator, run by the backend's Raster kernel
  std::string backend;
  std::string provider;
  std::string kernel;             // Creator::kernel
  std::vector<Refusal> refusals;  // "backend/provider" -> reason, of every faster choice
  size_t copiedBytes = 0;         // for copies
  bool fellBack = false;          // the session's backend refused the node; another backend ran it
  std::string cost;               // with placeByCost: "vulkan 340 us, cpu 12.1 us"; empty if there was no choice
  std::string outputs;            // descriptions, for listings
  double flops = 0;
  size_t bytesRead = 0;  // of the tensors it reads and writes, as the backend stores them
  size_t bytesWritten = 0;
  // Of the last run, with SessionConfig::profile; negative when not measured.
  double deviceNs = -1;
  double hostStartNs = -1;  // since the run began
  double hostNs = -1;       // the host's share: all of a host kernel or copy, only the submission of a device's
};

/// One command of a run, as passed to callbacks; valid during the call.
struct CommandInfo {
  std::string node;
  std::string type;  // operator type
  std::string backend;
  std::vector<std::string> inputs, outputs;  // names of tensors, empty if absent
  /// Host copies in the model's dtype. InvalidArgument for an index out of range or an absent tensor; outputs have
  /// values only after the command.
  std::function<Result<Tensor>(size_t)> readInput, readOutput;
};
/// False stops the run.
using CommandCallback = std::function<bool(const CommandInfo&)>;

/// With placeByCost: the expected time of one run when the current plan was made; negative without.
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
  size_t separateBytes = 0;        // sum of its tensors whose bytes are not reused
  size_t largestScratchBytes = 0;  // of one kernel, planned among the tensors
};

struct SessionStatistics {
  size_t resizes = 0;                    // resizes that did work
  size_t resizesUnchanged = 0;           // calls of resize and run that found the shapes unchanged
  size_t plansMade = 0;                  // for shapes not seen before, or forgotten
  size_t plansFound = 0;                 // resizes that reused a kept plan
  size_t plansKept = 0;                  // now
  std::vector<MemoryStatistics> memory;  // per backend, the session's own first; sums over the stages
  size_t plannedPeakBytes = 0;           // arena of the session's backend
  size_t lowerBoundBytes = 0;            // largest sum of live tensors at any moment
  size_t foldedNodes = 0;                // computed at resize from constants
  size_t removedRasters = 0;             // copies removed by region fusion
  size_t fusedRegions = 0;               // regions of the rasters made by fusion
  size_t partialViews = 0;               // tensors that are views of parts of others instead of copies
  size_t loopRegions = 0;                // operators that run as loops (engine/op/loop_region.h)
  size_t executionsCreated = 0;          // over the life of the session
  std::string lastExecution;             // made last: its kernel and operator, and why none that was kept served
  size_t segments = 0;
  size_t stages = 1;          // parts planned one after the other (engine/graph/stages.h), those of subgraphs included
  size_t inPlace = 0;         // outputs of the current plan that took over the memory of an input
  std::string runsOn;         // the backend of the last resize: "cpu" while startOnCpu prepares the other one
  size_t runsBeforeMove = 0;  // with startOnCpu: runs on the CPU before the session moved over
  std::string moveError;      // why the session stays on the CPU; with backend "auto", why there is no other device
  CostEstimate estimate;      // of the current plan
  double lastResizeNs = 0;
  double lastRunNs = 0;
};

class FoldedConstants;
class PipelineCache;
class Session;
struct SessionShare;
class StagedRun;
struct StagePlan;

class Interpreter {
 public:
  ~Interpreter();
  /// Validates the model (validateModel) and runs the graph passes before lowering. InvalidArgument for an unknown
  /// pass. `registry` must outlive the Interpreter.
  static Result<std::shared_ptr<Interpreter>> create(Model model, const OpRegistry& registry,
                                                     InterpreterOptions options = {});

  Result<std::unique_ptr<Session>> createSession(const SessionConfig& config);
  /// As above, on a given Runtime (sessions share its device and caches).
  Result<std::unique_ptr<Session>> createSession(const SessionConfig& config, std::shared_ptr<Runtime> runtime);

  /// The Runtime shared by sessions of this configuration. Lives from the first session to the last. Thread-safe.
  Result<std::shared_ptr<Runtime>> runtimeOf(const SessionConfig& config) const;
  /// The uploaded and packed constants of the sessions on `runtime`. Lives as long as one of them. Thread-safe.
  std::shared_ptr<ConstantStore> constantsOn(const std::shared_ptr<Runtime>& runtime) const;
  /// The constants folded so far. Lives as long as one session. Thread-safe.
  std::shared_ptr<FoldedConstants> foldedConstants() const;

  const Model& model() const { return model_; }
  /// As Model::findTensor, from an index that the first call makes. Thread-safe.
  TensorId findTensor(std::string_view name) const;
  const OpRegistry& registry() const { return *registry_; }
  const InterpreterOptions& options() const { return options_; }
  /// The changes of the graph passes before lowering, one entry per pass that ran.
  const std::vector<PassCount>& passCounts() const { return passCounts_; }

 private:
  friend class Session;
  friend class StagedRun;
  /// A session that is a stage or a body of another one.
  Result<std::unique_ptr<Session>> createPart(const SessionConfig& config, std::shared_ptr<Runtime> runtime,
                                              std::shared_ptr<SessionShare> share);
  Result<std::unique_ptr<Session>> createAutoSession(SessionConfig config);
  static Result<std::shared_ptr<Interpreter>> make(Model model, const OpRegistry& registry, InterpreterOptions options);
  Interpreter(Model model, const OpRegistry& registry);
  std::weak_ptr<Interpreter> self_;                  // sessions keep their interpreter alive
  std::vector<std::shared_ptr<const void>> owners_;  // shared: plugins stay loaded while they may be called
  Model model_;
  std::optional<Model> original_;  // as given to create, if an input has a default, which passes take as a constant
  const OpRegistry* registry_;
  InterpreterOptions options_;
  std::vector<PassCount> passCounts_;
  std::shared_ptr<const StagePlan> stages_;  // of a model of several, else null; shared by its sessions
  struct Shared;
  std::unique_ptr<Shared> shared_;  // state that sessions share on each device
};

class Session {
 public:
  ~Session();

  /// Another session of the same configuration on the same Runtime, with this one's input shapes and values. Uploaded
  /// and packed constants are shared. May be called while no other call of this session is running.
  Result<std::unique_ptr<Session>> clone() const;

  /// The inputs that have a default. They are not among inputNames().
  std::vector<std::string> defaultNames() const;
  /// Gives such an input a copy of `value` instead, for all runs: constants are folded and packed as if the model held
  /// it. InvalidArgument after the first resize, and for the reasons of replaceDefault (engine/model/model.h).
  Status setDefault(const std::string& name, const Tensor& value);

  /// The description of an input with that shape. Returns the errors of resizeInput and changes nothing.
  Result<TensorDesc> inputDesc(const std::string& name, const Shape& shape) const;
  /// Sets an input's shape for the next resize. InvalidArgument for an unknown name (lists the known ones)
  /// or a shape that contradicts the model's fixed extents or rank.
  Status resizeInput(const std::string& name, const Shape& shape);
  /// Plans for the current input shapes. Does nothing if they, and the contents that shapes depend on, are unchanged;
  /// reuses the plan of shapes seen before. Errors name the node; OutOfMemory if the device or memoryLimitBytes
  /// refuses. After an error the session can be resized again. A model of several stages (engine/graph/stages.h) is
  /// planned up to the end of the first; run plans the rest when it knows the shapes.
  Status resize();
  /// Resizes if needed, then runs. InvalidArgument names the inputs that were given no values for their present shape:
  /// fillInput() and bindInput() give values, a resizeInput() to another shape takes them away, an input without
  /// elements needs none. Outputs are on the host afterwards; after an error there are none. With startOnCpu, a backend
  /// that has become ready takes over before the run. After DeviceLost every call is refused with DeviceLost; a new
  /// session on a new Runtime works.
  Status run();
  /// As run, and calls `before` and `after` (either may be empty) around every command except copies. True if it ran to
  /// the end, false if a callback stopped it; outputs are then undefined. Backends that record whole segments run
  /// command by command for this, from a second plan made at the first call. Control-flow nodes are commands of backend
  /// "host"; nodes of their bodies are named NODE/BODY/INNER and appear once per iteration.
  Result<bool> runWithCallback(const CommandCallback& before, const CommandCallback& after);
  /// With startOnCpu: waits until the backend is ready and moves to it. OK at once if there is nothing to wait for; an
  /// error says why the session stays on the CPU. The stages of a model move one by one.
  Status waitForMove();

  std::vector<std::string> inputNames() const;
  /// The dtype of an input as the model declares it; Float32 if there is no such input.
  DType inputType(const std::string& name) const;
  /// The same of an output; Float32 also where the dtype follows from a run.
  DType outputType(const std::string& name) const;
  std::vector<std::string> outputNames() const;
  /// The host tensor to fill, with the shape of the last resizeInput; null for an unknown name. A caller that requests
  /// it is assumed to fill it.
  Tensor* fillInput(const std::string& name);
  /// The same to look at: its shape, and its values if it was given any; null for an unknown name.
  const Tensor* input(const std::string& name) const;
  /// The host tensor of the last run; null for an unknown name, and while outputs() is empty.
  const Tensor* output(const std::string& name) const;

  /// The host tensors of the last run, in the model's order. Empty before the first run, after one that failed or was
  /// stopped, and after a resize to other shapes.
  std::span<const Tensor> outputs() const { return hasOutputs_ ? outputs_ : std::span<const Tensor>(); }
  /// The descriptions of the outputs in the current plan, in the model's order; empty without one, and for a model of
  /// several stages those of the last run.
  std::vector<TensorDesc> outputDescs() const;
  /// Input i is this host tensor from now on, whatever the model declares; for callers that feed sessions from others.
  /// Values of one version, if it is not 0, are equal, so that a device that holds them needs no copy.
  void bindInput(size_t i, Tensor value, uint64_t version = 0) {
    inputs_[i] = std::move(value);
    inputSet_[i] = true;
    inputVersions_[i] = version;
  }

  /// With keepTensors: a host copy of any tensor of the model after run, in the model's dtype. InvalidArgument for
  /// unknown names and for tensors that folding removed without a value.
  Result<Tensor> readTensor(const std::string& name);
  /// With guardBytes: OK, or Internal with the node outputs next to which a kernel wrote, and the offset.
  Status checkGuards();

  const DeviceInfo& device() const;
  const SessionConfig& config() const { return config_; }
  /// One row per command in execution order. Valid after resize.
  std::vector<Placement> placement() const;
  /// The descriptions of the outputs for the current inputs, some of which may have no value (engine/op/control.h).
  /// Nothing runs, and no memory is planned. Unsupported if they depend on such a value, or on one that only a run
  /// computes.
  Result<std::vector<TensorDesc>> plannedOutputs();
  /// The rows for the current inputs without a resize: kernels are chosen, but there is no memory, nothing is packed
  /// and no device code is compiled. A model of several stages is resized up to the end of the first.
  Result<std::vector<Placement>> plannedPlacement();
  SessionStatistics statistics() const;
  /// Counters summed over the session's backends.
  BackendCounters counters() const;

 private:
  friend class Interpreter;
  Session(std::shared_ptr<const Interpreter> interpreter, SessionConfig config, std::shared_ptr<Runtime> runtime,
          std::shared_ptr<SessionShare> share);
  Status start();
  Status startParts();
  Status takeDefaults();
  Status startPipelines();
  Status resizeNow();
  Status resizePlan();
  Status resizeFirstStage();
  Status runNow();
  Result<bool> runCommands(const CommandCallback& before, const CommandCallback& after);
  Status requireInputs() const;
  std::optional<size_t> findInput(const std::string& name) const;
  /// Remembers a lost device.
  Status remember(Status status);
  bool isCurrent() const;
  Status fitOutputs();
  void prepareMove();
  Status moveOver();
  struct Preparation;

  std::shared_ptr<const Interpreter> interpreter_;  // shared: the model outlives every session
  SessionConfig config_;
  std::shared_ptr<Runtime> runtime_;
  std::shared_ptr<SessionShare> share_;       // with the stages and bodies
  std::unique_ptr<PipelineCache> pipelines_;  // of a model of one stage
  std::unique_ptr<StagedRun> staged_;         // of a model with
  std::unique_ptr<Preparation> preparation_;
  std::optional<Model> replaced_;        // with the values of setDefault; none once a resize has taken them
  bool isPlanned_ = false;               // a resize or plannedPlacement succeeded
  bool onCpu_ = false;                   // startOnCpu, and not moved yet
  std::vector<Tensor> inputs_;           // host, in model order
  std::vector<bool> inputSet_;           // has been given values for its shape
  std::vector<uint64_t> inputVersions_;  // see bindInput
  std::vector<Tensor> outputs_;          // host, in model order
  bool hasOutputs_ = false;              // outputs_ hold the values of a run that succeeded
  bool outputsFit_ = false;              // of a model of one stage: outputs_ are those of the current plan
  SessionStatistics statistics_;
  Status lost_;  // set once the device was lost; every later call returns it
};

}  // namespace opkit
