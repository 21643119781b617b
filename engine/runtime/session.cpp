#include "engine/runtime/session.h"

#include <atomic>
#include <map>
#include <mutex>
#include <thread>
#include <tuple>
#include <unordered_map>

#include "engine/base/clock.h"
#include "engine/base/guard.h"
#include "engine/base/make_thread_pool.h"
#include "engine/base/thread_name.h"
#include "engine/graph/stages.h"
#include "engine/runtime/pipeline_cache.h"
#include "engine/runtime/session_share.h"
#include "engine/runtime/staged_run.h"
#include "engine/tensor/objects.h"

namespace opkit {
namespace {

Status checkAgainstDeclared(const std::string& name, const TensorDesc& declared, const Shape& shape) {
  bool fits = shape.size() == declared.shape.size();
  for (size_t d = 0; fits && d < shape.size(); ++d)
    fits = declared.shape[d] == kDynamic || declared.shape[d] == shape[d];
  if (fits) return checkShape(shape).withContext(fmt::format("input '{}'", name));
  return Status::invalidArgument("input '{}': the model declares {}, got shape {}", name, declared.toString(),
                                 toString(shape));
}

/// The initial shape of a session: the model's choice if it fits, else the declared one with 1 for open extents.
TensorDesc initialDesc(const ModelTensor& input) {
  TensorDesc desc = input.desc;
  if (!input.startShape.empty() && checkAgainstDeclared(input.name, desc, input.startShape).isOk())
    desc.shape = input.startShape;
  for (int64_t& extent : desc.shape)
    if (extent == kDynamic) extent = 1;
  return desc;
}

/// Index in `list` of the tensor with this name; the size of `list` if absent.
size_t positionOf(const std::vector<TensorId>& list, const std::string& name, const Model& model) {
  const auto found = std::ranges::find_if(list, [&](TensorId tensor) { return model.tensors[tensor].name == name; });
  return static_cast<size_t>(found - list.begin());
}

/// An output of the last run may be an input now (bindInput), and a run reads and writes in place: it gets other
/// memory.
Status partOutputs(std::span<const Tensor> inputs, std::vector<Tensor>& outputs) {
  for (Tensor& output : outputs) {
    const auto isOutput = [&](const Tensor& input) { return input.buffer == output.buffer; };
    if (!output.buffer || !std::ranges::any_of(inputs, isOutput)) continue;
    OPKIT_ASSIGN(output, Tensor::onHost(output.desc, Fill::None));
  }
  return Status::ok();
}

/// The same for stages: one of them may write its output before a later one reads the input, which is copied.
Status partInputs(std::span<const Tensor> outputs, std::vector<Tensor>& inputs) {
  for (Tensor& input : inputs) {
    const auto isInput = [&](const Tensor& output) { return input.buffer == output.buffer; };
    if (!input.buffer || !std::ranges::any_of(outputs, isInput)) continue;
    OPKIT_ASSIGN(input, copyOf(input));
  }
  return Status::ok();
}

}  // namespace

Result<std::shared_ptr<Interpreter>> Interpreter::create(Model model, const OpRegistry& registry,
                                                         InterpreterOptions options) {
  return guarded([&] { return make(std::move(model), registry, std::move(options)); });
}

Result<std::shared_ptr<Interpreter>> Interpreter::make(Model model, const OpRegistry& registry,
                                                       InterpreterOptions options) {
  OPKIT_TRY(validateModel(model, registry));
  OPKIT_TRY(checkPassNames(registry, options.disabledPasses));
  std::optional<Model> original;
  if (std::ranges::any_of(model.tensors, [](const ModelTensor& tensor) { return tensor.defaultOf.has_value(); }))
    original = model;
  OPKIT_ASSIGN(auto counts, rewriteModel(model, registry, options.disabledPasses));
  std::shared_ptr<Interpreter> interpreter(new Interpreter(std::move(model), registry));
  OPKIT_ASSIGN(interpreter->owners_, registry.holdOwners());
  interpreter->self_ = interpreter;
  interpreter->original_ = std::move(original);
  interpreter->options_ = std::move(options);
  interpreter->passCounts_ = std::move(counts);
  if (needsStages(interpreter->model_, registry)) {
    OPKIT_ASSIGN(interpreter->stages_, StagePlan::create(interpreter->model_, registry, interpreter->options_));
  }
  return interpreter;
}

/// Weak: sessions own what they share.
struct Interpreter::Shared {
  using RuntimeKey = std::tuple<std::string, std::string, Validation, std::string>;
  std::mutex mutex;
  std::map<RuntimeKey, std::weak_ptr<Runtime>> runtimes;
  // By identity: another Runtime may come to the same address.
  std::map<std::weak_ptr<Runtime>, std::weak_ptr<ConstantStore>, std::owner_less<>> constants;
  std::weak_ptr<FoldedConstants> folded;
  std::unordered_map<std::string_view, TensorId> tensors;  // by name; of the model that the Interpreter owns
};

Interpreter::Interpreter(Model model, const OpRegistry& registry)
    : model_(std::move(model)), registry_(&registry), shared_(std::make_unique<Shared>()) {}

Interpreter::~Interpreter() = default;

Result<std::shared_ptr<Runtime>> Interpreter::runtimeOf(const SessionConfig& config) const {
  return guarded([&]() -> Result<std::shared_ptr<Runtime>> {
    const std::lock_guard lock(shared_->mutex);
    std::weak_ptr<Runtime>& known =
        shared_->runtimes[{config.backend, config.device, config.validation, config.cacheDir}];
    if (std::shared_ptr<Runtime> runtime = known.lock()) return runtime;
    OPKIT_ASSIGN(std::shared_ptr<Runtime> runtime,
                 createRuntime(config.backend, {config.device, config.validation, config.cacheDir}));
    known = runtime;
    return runtime;
  });
}

std::shared_ptr<ConstantStore> Interpreter::constantsOn(const std::shared_ptr<Runtime>& runtime) const {
  const std::lock_guard lock(shared_->mutex);
  std::erase_if(shared_->constants, [](const auto& each) { return each.first.expired(); });
  std::weak_ptr<ConstantStore>& known = shared_->constants[runtime];
  if (std::shared_ptr<ConstantStore> store = known.lock()) return store;
  auto store = std::make_shared<ConstantStore>();
  known = store;
  return store;
}

std::shared_ptr<FoldedConstants> Interpreter::foldedConstants() const {
  const std::lock_guard lock(shared_->mutex);
  if (std::shared_ptr<FoldedConstants> folded = shared_->folded.lock()) return folded;
  auto folded = std::make_shared<FoldedConstants>();
  shared_->folded = folded;
  return folded;
}

TensorId Interpreter::findTensor(std::string_view name) const {
  const std::lock_guard lock(shared_->mutex);
  if (shared_->tensors.empty())
    for (const TensorId t : model_.tensors.ids()) shared_->tensors.try_emplace(model_.tensors[t].name, t);
  const auto found = shared_->tensors.find(name);
  return found == shared_->tensors.end() ? TensorId() : found->second;
}

Result<std::unique_ptr<Session>> Interpreter::createSession(const SessionConfig& config) {
  if (config.backend == "auto") return createAutoSession(config);
  OPKIT_ASSIGN(auto runtime, runtimeOf(config));
  return createSession(config, std::move(runtime));
}

/// Tries the backends with their own device: all except the CPU and those for tests.
Result<std::unique_ptr<Session>> Interpreter::createAutoSession(SessionConfig config) {
  std::string why = "this build has no backend but the CPU";
  for (const BackendKind& kind : backendKinds()) {
    if (kind.name == "cpu" || kind.name == "reference" || kind.name == "null") continue;
    config.backend = kind.name;
    config.placeByCost = true;
    auto runtime = runtimeOf(config);
    if (runtime) return createSession(config, *std::move(runtime));
    if (runtime.error().code() != StatusCode::Unsupported) return runtime.error();
    why = runtime.error().message();
  }
  config.backend = "cpu";
  config.placeByCost = false;
  config.device.clear();
  OPKIT_ASSIGN(auto session, createSession(config));
  session->statistics_.moveError = why;
  return session;
}

Result<std::unique_ptr<Session>> Interpreter::createSession(const SessionConfig& config,
                                                            std::shared_ptr<Runtime> runtime) {
  return guarded([&] { return createPart(config, std::move(runtime), std::make_shared<SessionShare>(config)); });
}

Result<std::unique_ptr<Session>> Interpreter::createPart(const SessionConfig& config, std::shared_ptr<Runtime> runtime,
                                                         std::shared_ptr<SessionShare> share) {
  OPKIT_TRY(checkThreads(config.threads));
  return guarded([&]() -> Result<std::unique_ptr<Session>> {
    std::unique_ptr<Session> session(new Session(self_.lock(), config, std::move(runtime), std::move(share)));
    OPKIT_TRY(session->start());
    return session;
  });
}

Session::Session(std::shared_ptr<const Interpreter> interpreter, SessionConfig config, std::shared_ptr<Runtime> runtime,
                 std::shared_ptr<SessionShare> share)
    : interpreter_(std::move(interpreter)),
      config_(std::move(config)),
      runtime_(std::move(runtime)),
      share_(std::move(share)) {}

/// Prepares the session's own backend for the shapes of the CPU's first resize.
struct Session::Preparation {
  std::vector<Tensor> inputs;
  std::atomic<bool> done = false;  // the other thread accesses nothing after setting it
  Status status;
  std::unique_ptr<PipelineCache> pipelines;
  std::thread thread;

  ~Preparation() {
    if (thread.joinable()) thread.join();
  }
};

Session::~Session() { share_->ending = true; }

Result<std::unique_ptr<Session>> Session::clone() const {
  return guarded([&]() -> Result<std::unique_ptr<Session>> {
    std::unique_ptr<Session> copy(
        new Session(interpreter_, config_, runtime_, std::make_shared<SessionShare>(config_)));
    OPKIT_TRY(copy->start());
    copy->replaced_ = replaced_;
    for (size_t i = 0; i < inputs_.size(); ++i) {
      OPKIT_ASSIGN(copy->inputs_[i], copyOf(inputs_[i]));
    }
    copy->inputSet_ = inputSet_;
    return copy;
  });
}

Status Session::startPipelines() {
  onCpu_ = config_.startOnCpu && config_.backend != "cpu";
  SessionConfig config = config_;
  std::shared_ptr<Runtime> runtime = runtime_;
  if (onCpu_) {
    config.backend = "cpu";
    OPKIT_ASSIGN(runtime, interpreter_->runtimeOf({.backend = "cpu", .cacheDir = config_.cacheDir}));
  }
  OPKIT_ASSIGN(pipelines_, PipelineCache::create(*interpreter_, config, runtime, share_, share_->memory));
  pipelines_->joinSession();
  return Status::ok();
}

Status Session::startParts() {
  if (!interpreter_->stages_) return startPipelines();
  OPKIT_ASSIGN(staged_, StagedRun::create(*interpreter_, *interpreter_->stages_, config_, runtime_, share_));
  return Status::ok();
}

Status Session::start() {
  OPKIT_TRY(startParts());
  const Model& model = interpreter_->model();
  for (const TensorId input : model.inputs) {
    const ModelTensor& declared = model.tensors[input];
    Result<Tensor> tensor = Tensor::onHost(initialDesc(declared));
    if (!tensor) return tensor.error().withContext(fmt::format("input '{}'", declared.name));
    inputs_.push_back(*std::move(tensor));
  }
  inputSet_.assign(inputs_.size(), false);
  inputVersions_.assign(inputs_.size(), 0);
  return Status::ok();
}

std::vector<std::string> Session::defaultNames() const {
  std::map<size_t, std::string> names;  // by position
  if (interpreter_->original_)
    for (const ModelTensor& tensor : interpreter_->original_->tensors)
      if (tensor.defaultOf) names.emplace(tensor.defaultOf->position, tensor.name);
  std::vector<std::string> list;
  for (const auto& [position, name] : names) list.push_back(name);
  return list;
}

Status Session::setDefault(const std::string& name, const Tensor& value) {
  return guarded([&]() -> Status {
    const std::vector<std::string> names = defaultNames();
    if (std::ranges::find(names, name) == names.end())
      return Status::invalidArgument("no input with a default is called '{}'", name);
    if (isPlanned_)
      return Status::invalidArgument(
          "input '{}' has a default, which a value may replace before the first resize or run only", name);
    if (!replaced_) replaced_ = interpreter_->original_;
    OPKIT_ASSIGN(const Tensor own, copyOf(value));
    return replaceDefault(*replaced_, name, own);
  });
}

/// Begins again with a model that holds the values of setDefault, and with a share of its own: the parts that go end
/// theirs. After an error everything is as before.
Status Session::takeDefaults() {
  if (!replaced_) return Status::ok();
  OPKIT_ASSIGN(auto changed, Interpreter::create(*replaced_, interpreter_->registry(), interpreter_->options()));
  Session begun(std::move(changed), config_, runtime_, std::make_shared<SessionShare>(config_));
  OPKIT_TRY(begun.startParts());
  std::swap(share_, begun.share_);
  std::swap(interpreter_, begun.interpreter_);
  std::swap(pipelines_, begun.pipelines_);
  std::swap(staged_, begun.staged_);
  replaced_.reset();
  return Status::ok();
}

std::optional<size_t> Session::findInput(const std::string& name) const {
  const Model& model = interpreter_->model();
  for (size_t i = 0; i < model.inputs.size(); ++i)
    if (model.tensors[model.inputs[i]].name == name) return i;
  return std::nullopt;
}

Result<TensorDesc> Session::inputDesc(const std::string& name, const Shape& shape) const {
  const auto index = findInput(name);
  const Model& model = interpreter_->model();
  if (const TensorId given = interpreter_->original_ ? interpreter_->original_->findTensor(name) : TensorId();
      !index && given && interpreter_->original_->tensors[given].defaultOf)
    return Status::invalidArgument("input '{}' has a default, which takes another value and its shape together", name);
  if (!index)
    return Status::invalidArgument("no input is called '{}'; the model's inputs are: {}", name,
                                   model.inputs.empty() ? "none" : fmt::to_string(fmt::join(inputNames(), ", ")));
  const TensorDesc& declared = model.tensors[model.inputs[*index]].desc;
  OPKIT_TRY(checkAgainstDeclared(name, declared, shape));
  return TensorDesc{declared.dtype, shape};
}

Status Session::resizeInput(const std::string& name, const Shape& shape) {
  return guarded([&]() -> Status {
    OPKIT_ASSIGN(TensorDesc desc, inputDesc(name, shape));
    const size_t index = *findInput(name);
    if (inputs_[index].desc.shape == shape) return Status::ok();
    Result<Tensor> tensor = Tensor::onHost(std::move(desc));
    if (!tensor) return tensor.error().withContext(fmt::format("input '{}'", name));
    inputs_[index] = *std::move(tensor);
    inputSet_[index] = false;
    inputVersions_[index] = 0;
    return Status::ok();
  });
}

Status Session::remember(Status status) {
  if (status.code() == StatusCode::DeviceLost)
    lost_ = status.withContext("this session's device was lost, make a new session on a new Runtime");
  return status;
}

Status Session::resize() {
  if (!lost_.isOk()) return lost_;
  return remember(guarded([this] { return resizeNow(); }));
}

Status Session::run() {
  hasOutputs_ = false;
  OPKIT_TRY(lost_);
  OPKIT_TRY(requireInputs());
  return remember(guarded([this] { return runNow(); }));
}

Status Session::requireInputs() const {
  std::vector<std::string> missing;
  const Model& model = interpreter_->model();
  for (size_t i = 0; i < inputs_.size(); ++i)
    if (const TensorDesc& desc = inputs_[i].desc; !inputSet_[i] && (desc.elements() > 0 || isObject(desc.dtype)))
      missing.push_back("'" + model.tensors[model.inputs[i]].name + "'");
  if (missing.empty()) return Status::ok();
  return Status::invalidArgument("{} input{} without values: {}; set each one, after its shape and before the run",
                                 missing.size(), missing.size() == 1 ? " is" : "s are", fmt::join(missing, ", "));
}

Status Session::resizeNow() {
  OPKIT_TRY(takeDefaults());
  OPKIT_TRY(staged_ ? resizeFirstStage() : resizePlan());
  isPlanned_ = true;
  return Status::ok();
}

Status Session::resizePlan() {
  if (isCurrent()) {
    ++statistics_.resizesUnchanged;
    return Status::ok();
  }
  const double start = nowNs();
  outputsFit_ = hasOutputs_ = false;
  OPKIT_TRY(pipelines_->resize({inputs_, inputVersions_}));
  OPKIT_TRY(fitOutputs());
  ++statistics_.resizes;
  statistics_.lastResizeNs = nowNs() - start;
  if (onCpu_ && !preparation_) prepareMove();
  return Status::ok();
}

/// A plan without memory for its outputs, which the host may have refused, is not current.
bool Session::isCurrent() const { return outputsFit_ && pipelines_->isCurrent(inputs_); }

Status Session::fitOutputs() {
  const std::vector<TensorDesc> descs = pipelines_->current().outputDescs();
  outputs_.resize(descs.size());
  for (size_t i = 0; i < descs.size(); ++i) {
    if (outputs_[i].buffer && outputs_[i].desc == descs[i]) continue;
    outputs_[i] = {};  // before the new one is allocated
    OPKIT_ASSIGN(outputs_[i], Tensor::onHost(descs[i], Fill::None));
  }
  outputsFit_ = true;
  return Status::ok();
}

/// Everything slow happens on the other thread: kernels are chosen, tuned and compiled, constants packed and uploaded.
void Session::prepareMove() {
  preparation_ = std::make_unique<Preparation>();
  for (const Tensor& input : inputs_) {
    Result<Tensor> copy = copyOf(input);
    if (!copy) preparation_->status = copy.error();
    preparation_->inputs.push_back(copy ? *std::move(copy) : Tensor{input.desc});
  }
  const auto body = [this_ = preparation_.get(), interpreter = interpreter_, config = config_, runtime = runtime_,
                     share = share_] {
    nameThread("opkit-prepare");
    this_->status = guarded([&]() -> Status {
      OPKIT_TRY(this_->status);
      OPKIT_ASSIGN(this_->pipelines, PipelineCache::create(*interpreter, config, runtime, share, share->prepared));
      const std::vector<uint64_t> noVersions(this_->inputs.size(), 0);
      return this_->pipelines->resize({this_->inputs, noVersions});
    });
    this_->done = true;
  };
  const Status started = guarded([&] { return preparation_->thread = std::thread(body), Status::ok(); });
  if (started.isOk()) return;
  preparation_->status = started.withContext("no thread to prepare the backend on");
  preparation_->done = true;
}

/// Waits for the preparation, then frees the CPU's plans and memory.
Status Session::moveOver() {
  if (preparation_->thread.joinable()) preparation_->thread.join();
  const std::unique_ptr<Preparation> finished = std::move(preparation_);
  onCpu_ = false;
  if (!finished->status.isOk()) {
    statistics_.moveError = finished->status.message();
    return finished->status;
  }
  pipelines_ = std::move(finished->pipelines);
  pipelines_->joinSession();
  outputsFit_ = false;
  return fitOutputs();
}

Status Session::waitForMove() {
  if (staged_) return staged_->waitForMove();
  if (!preparation_) return Status::ok();
  return moveOver();
}

Status Session::resizeFirstStage() {
  const double start = nowNs();
  OPKIT_ASSIGN(const bool worked, staged_->resize({inputs_, inputVersions_}));
  if (!worked) {
    ++statistics_.resizesUnchanged;
    return Status::ok();
  }
  ++statistics_.resizes;
  statistics_.lastResizeNs = nowNs() - start;
  return Status::ok();
}

Status Session::runNow() {
  if (preparation_ && preparation_->done) static_cast<void>(moveOver());  // moveError is the reason if it stays
  OPKIT_TRY(resizeNow());
  const double start = nowNs();
  if (staged_) {
    OPKIT_TRY(partInputs(outputs_, inputs_));
    OPKIT_ASSIGN(outputs_, staged_->run({inputs_, inputVersions_}));
  } else {
    OPKIT_TRY(partOutputs(inputs_, outputs_));
    OPKIT_TRY(pipelines_->current().run({inputs_, inputVersions_}, outputs_));
  }
  hasOutputs_ = true;
  statistics_.lastRunNs = nowNs() - start;
  const bool onCpu = staged_ ? config_.startOnCpu && staged_->runsOn() != config_.backend : onCpu_;
  if (onCpu) ++statistics_.runsBeforeMove;
  return Status::ok();
}

Result<bool> Session::runWithCallback(const CommandCallback& before, const CommandCallback& after) {
  hasOutputs_ = false;
  OPKIT_TRY(lost_);
  OPKIT_TRY(requireInputs());
  return guarded([&] { return runCommands(before, after); });
}

Result<bool> Session::runCommands(const CommandCallback& before, const CommandCallback& after) {
  OPKIT_TRY(remember(resizeNow()));
  if (staged_) {
    auto outputs = staged_->runWith(before, after, {inputs_, inputVersions_});
    if (!outputs) return remember(outputs.error());
    hasOutputs_ = outputs->has_value();
    if (hasOutputs_) outputs_ = **std::move(outputs);
    return hasOutputs_;
  }
  OPKIT_TRY(partOutputs(inputs_, outputs_));
  const Result<bool> ran = pipelines_->current().runWith(before, after, {inputs_, inputVersions_}, outputs_);
  if (!ran) OPKIT_TRY(remember(ran.error()));
  hasOutputs_ = *ran;
  return ran;
}

std::vector<std::string> Session::inputNames() const {
  std::vector<std::string> names;
  const Model& model = interpreter_->model();
  for (const TensorId input : model.inputs) names.push_back(model.tensors[input].name);
  return names;
}

DType Session::inputType(const std::string& name) const {
  if (const auto index = findInput(name)) return inputs_[*index].desc.dtype;
  const TensorId given = interpreter_->original_ ? interpreter_->original_->findTensor(name) : TensorId();
  return given ? interpreter_->original_->tensors[given].desc.dtype : DType::Float32;
}

DType Session::outputType(const std::string& name) const {
  const Model& model = interpreter_->model();
  const size_t index = positionOf(model.outputs, name, model);
  return index < model.outputs.size() ? model.tensors[model.outputs[index]].desc.dtype : DType::Float32;
}

std::vector<std::string> Session::outputNames() const {
  std::vector<std::string> names;
  const Model& model = interpreter_->model();
  for (const TensorId output : model.outputs) names.push_back(model.tensors[output].name);
  return names;
}

Tensor* Session::fillInput(const std::string& name) {
  const auto index = findInput(name);
  if (!index) return nullptr;
  inputSet_[*index] = true;
  inputVersions_[*index] = 0;
  return &inputs_[*index];
}

const Tensor* Session::input(const std::string& name) const {
  const auto index = findInput(name);
  return index ? &inputs_[*index] : nullptr;
}

const Tensor* Session::output(const std::string& name) const {
  const size_t index = positionOf(interpreter_->model().outputs, name, interpreter_->model());
  return index >= outputs().size() ? nullptr : &outputs_[index];
}

std::vector<TensorDesc> Session::outputDescs() const {
  if (!staged_) return pipelines_->hasCurrent() ? pipelines_->current().outputDescs() : std::vector<TensorDesc>();
  std::vector<TensorDesc> descs;
  for (const Tensor& output : outputs()) descs.push_back(output.desc);
  return descs;
}

Result<std::vector<TensorDesc>> Session::plannedOutputs() {
  return guarded([&]() -> Result<std::vector<TensorDesc>> {
    if (staged_) return staged_->outputDescs({inputs_, inputVersions_});
    for (const size_t i : pipelines_->watchedInputs())
      if (!hasValue(inputs_[i])) return Status::unsupported("the shapes depend on values of input {}", i);
    OPKIT_TRY(pipelines_->plan(inputs_));
    return pipelines_->planned().outputDescs();
  });
}

Result<Tensor> Session::readTensor(const std::string& name) {
  const TensorId tensor = interpreter_->findTensor(name);
  if (!tensor) return Status::invalidArgument("no tensor is called '{}'", name);
  if (!config_.keepTensors)
    return Status::invalidArgument("tensor '{}' can only be read from a session with keepTensors", name);
  if (staged_) return staged_->readTensor(name);
  if (!pipelines_->hasCurrent()) return Status::invalidArgument("tensor '{}' can only be read after a run", name);
  return pipelines_->current().readTensor(tensor, inputs_);
}

Status Session::checkGuards() {
  if (staged_) return staged_->checkGuards();
  return pipelines_->hasCurrent() ? pipelines_->current().checkGuards() : Status::ok();
}

const DeviceInfo& Session::device() const { return runtime_->device(); }

std::vector<Placement> Session::placement() const {
  if (staged_) return staged_->placement();
  return pipelines_->hasCurrent() ? pipelines_->current().placement() : std::vector<Placement>();
}

Result<std::vector<Placement>> Session::plannedPlacement() {
  OPKIT_TRY(lost_);
  std::vector<Placement> rows;
  const Status status = remember(guarded([&]() -> Status {
    OPKIT_TRY(takeDefaults());
    if (staged_) {
      OPKIT_TRY(resizeFirstStage());
      rows = staged_->placement();
    } else {
      OPKIT_TRY(pipelines_->plan(inputs_));
      rows = pipelines_->planned().placement();
    }
    isPlanned_ = true;
    return Status::ok();
  }));
  if (!status.isOk()) return status;
  return rows;
}

SessionStatistics Session::statistics() const {
  SessionStatistics statistics = statistics_;
  if (staged_) {
    staged_->addStatistics(statistics);
  } else {
    statistics.runsOn = pipelines_->mainName();
    pipelines_->addStatistics(statistics);
  }
  return statistics;
}

BackendCounters Session::counters() const { return staged_ ? staged_->counters() : pipelines_->counters(); }

}  // namespace opkit
