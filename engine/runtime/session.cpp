#include "engine/runtime/session.h"

#include <chrono>
#include <map>
#include <mutex>
#include <tuple>

#include "engine/runtime/pipeline_cache.h"

namespace opkit {
namespace {

class Stopwatch {
 public:
  double elapsedNs() const {
    return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

std::string listNames(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text.empty() ? "none" : text;
}

/// The shape a session starts with: the declared one, with 1 for every extent the model leaves open.
TensorDesc initialDesc(const TensorDesc& declared) {
  TensorDesc desc = declared;
  for (int64_t& extent : desc.shape)
    if (extent == kDynamic) extent = 1;
  return desc;
}

Status checkAgainstDeclared(const std::string& name, const TensorDesc& declared, const Shape& shape) {
  bool fits = shape.size() == declared.shape.size();
  for (size_t d = 0; fits && d < shape.size(); ++d)
    fits = declared.shape[d] == kDynamic || declared.shape[d] == shape[d];
  if (fits) return checkShape(shape).withContext(fmt::format("input '{}'", name));
  return Status::invalidArgument("input '{}': the model declares {}, got shape {}", name, declared.toString(),
                                 toString(shape));
}

}  // namespace

Result<std::shared_ptr<Interpreter>> Interpreter::create(Model model, const OpRegistry& registry) {
  OPKIT_TRY(validateModel(model, registry));
  std::shared_ptr<Interpreter> interpreter(new Interpreter(std::move(model), registry));
  OPKIT_ASSIGN(interpreter->owners_, registry.holdOwners());
  interpreter->self_ = interpreter;
  return interpreter;
}

/// Weak: sessions own what they share.
struct Interpreter::Shared {
  using RuntimeKey = std::tuple<std::string, std::string, Validation, std::string>;
  std::mutex mutex;
  std::map<RuntimeKey, std::weak_ptr<Runtime>> runtimes;
  std::map<const Runtime*, std::weak_ptr<ConstantStore>> constants;
};

Interpreter::Interpreter(Model model, const OpRegistry& registry)
    : model_(std::move(model)), registry_(&registry), shared_(std::make_unique<Shared>()) {}

Interpreter::~Interpreter() = default;

Result<std::shared_ptr<Runtime>> Interpreter::runtimeOf(const SessionConfig& config) const {
  const std::lock_guard lock(shared_->mutex);
  std::weak_ptr<Runtime>& known =
      shared_->runtimes[{config.backend, config.device, config.validation, config.cacheDir}];
  if (std::shared_ptr<Runtime> runtime = known.lock()) return runtime;
  OPKIT_ASSIGN(std::shared_ptr<Runtime> runtime,
               createRuntime(config.backend, {config.device, config.validation, config.cacheDir}));
  known = runtime;
  return runtime;
}

std::shared_ptr<ConstantStore> Interpreter::constantsOn(const Runtime& runtime) const {
  const std::lock_guard lock(shared_->mutex);
  std::weak_ptr<ConstantStore>& known = shared_->constants[&runtime];
  if (std::shared_ptr<ConstantStore> store = known.lock()) return store;
  auto store = std::make_shared<ConstantStore>();
  known = store;
  return store;
}

Result<std::unique_ptr<Session>> Interpreter::createSession(const SessionConfig& config) {
  OPKIT_ASSIGN(auto runtime, runtimeOf(config));
  return createSession(config, std::move(runtime));
}

Result<std::unique_ptr<Session>> Interpreter::createSession(const SessionConfig& config,
                                                            std::shared_ptr<Runtime> runtime) {
  std::unique_ptr<Session> session(new Session(self_.lock(), config, std::move(runtime)));
  OPKIT_TRY(session->start());
  return session;
}

Session::Session(std::shared_ptr<const Interpreter> interpreter, SessionConfig config, std::shared_ptr<Runtime> runtime)
    : interpreter_(std::move(interpreter)), config_(std::move(config)), runtime_(std::move(runtime)) {}

Session::~Session() = default;

Result<std::unique_ptr<Session>> Session::clone() const {
  std::unique_ptr<Session> copy(new Session(interpreter_, config_, runtime_));
  OPKIT_TRY(copy->start());
  for (size_t i = 0; i < inputs_.size(); ++i) {
    OPKIT_ASSIGN(copy->inputs_[i], Tensor::onHost(inputs_[i].desc, Fill::None));
    convertElements(inputs_[i], copy->inputs_[i]);
  }
  return copy;
}

Status Session::start() {
  OPKIT_ASSIGN(pipelines_, PipelineCache::create(*interpreter_, config_, runtime_));
  const Model& model = interpreter_->model();
  for (int input : model.inputs) {
    const ModelTensor& declared = model.tensors[static_cast<size_t>(input)];
    Result<Tensor> tensor = Tensor::onHost(initialDesc(declared.desc));
    if (!tensor) return tensor.error().withContext(fmt::format("input '{}'", declared.name));
    inputs_.push_back(*std::move(tensor));
  }
  return Status::ok();
}

Status Session::resizeInput(const std::string& name, const Shape& shape) {
  const Model& model = interpreter_->model();
  for (size_t i = 0; i < inputs_.size(); ++i) {
    const ModelTensor& declared = model.tensors[static_cast<size_t>(model.inputs[i])];
    if (declared.name != name) continue;
    OPKIT_TRY(checkAgainstDeclared(name, declared.desc, shape));
    if (inputs_[i].desc.shape == shape) return Status::ok();
    Result<Tensor> tensor = Tensor::onHost({declared.desc.dtype, shape});
    if (!tensor) return tensor.error().withContext(fmt::format("input '{}'", name));
    inputs_[i] = *std::move(tensor);
    return Status::ok();
  }
  return Status::invalidArgument("no input is called '{}'; the model's inputs are: {}", name, listNames(inputNames()));
}

Status Session::remember(Status status) {
  if (status.code() == StatusCode::DeviceLost)
    lost_ = status.withContext("this session's device was lost, make a new session on a new Runtime");
  return status;
}

Status Session::resize() {
  if (!lost_.isOk()) return lost_;
  return config_.resizeMode == ResizeMode::Defer ? Status::ok() : remember(resizeNow());
}

Status Session::run() { return lost_.isOk() ? remember(runNow()) : lost_; }

Status Session::resizeNow() {
  if (pipelines_->isCurrent(inputs_)) {
    ++statistics_.resizesUnchanged;
    return Status::ok();
  }
  const Stopwatch watch;
  OPKIT_TRY(pipelines_->resize(inputs_));
  const std::vector<TensorDesc> descs = pipelines_->current().outputDescs();
  outputs_.resize(descs.size());
  for (size_t i = 0; i < descs.size(); ++i) {
    if (outputs_[i].buffer && outputs_[i].desc == descs[i]) continue;
    OPKIT_ASSIGN(outputs_[i], Tensor::onHost(descs[i], Fill::None));
  }
  if (config_.resizeMode == ResizeMode::Fixed) pipelines_->fix();
  ++statistics_.resizes;
  statistics_.lastResizeNs = watch.elapsedNs();
  return Status::ok();
}

Status Session::runNow() {
  OPKIT_TRY(resizeNow());
  const Stopwatch watch;
  OPKIT_TRY(pipelines_->current().run(inputs_, outputs_));
  statistics_.lastRunNs = watch.elapsedNs();
  return Status::ok();
}

std::vector<std::string> Session::inputNames() const {
  std::vector<std::string> names;
  const Model& model = interpreter_->model();
  for (int input : model.inputs) names.push_back(model.tensors[static_cast<size_t>(input)].name);
  return names;
}

std::vector<std::string> Session::outputNames() const {
  std::vector<std::string> names;
  const Model& model = interpreter_->model();
  for (int output : model.outputs) names.push_back(model.tensors[static_cast<size_t>(output)].name);
  return names;
}

Tensor* Session::input(const std::string& name) {
  const std::vector<std::string> names = inputNames();
  const auto found = std::find(names.begin(), names.end(), name);
  return found == names.end() ? nullptr : &inputs_[static_cast<size_t>(found - names.begin())];
}

const Tensor* Session::output(const std::string& name) const {
  const std::vector<std::string> names = outputNames();
  const auto found = std::find(names.begin(), names.end(), name);
  const auto index = static_cast<size_t>(found - names.begin());
  return index >= outputs_.size() ? nullptr : &outputs_[index];
}

Result<Tensor> Session::readTensor(const std::string& name) {
  const int tensor = interpreter_->model().findTensor(name);
  if (tensor < 0) return Status::invalidArgument("no tensor is called '{}'", name);
  if (!config_.keepTensors)
    return Status::invalidArgument("tensor '{}' can only be read from a session with keepTensors", name);
  if (!pipelines_->hasCurrent()) return Status::invalidArgument("tensor '{}' can only be read after a run", name);
  return pipelines_->current().readTensor(tensor, inputs_);
}

Status Session::checkGuards() { return pipelines_->hasCurrent() ? pipelines_->current().checkGuards() : Status::ok(); }

const DeviceInfo& Session::device() const { return runtime_->device(); }

std::vector<Placement> Session::placement() const {
  return pipelines_->hasCurrent() ? pipelines_->current().placement() : std::vector<Placement>();
}

SessionStatistics Session::statistics() const {
  SessionStatistics statistics = statistics_;
  pipelines_->addStatistics(statistics);
  return statistics;
}

BackendCounters Session::counters() const { return pipelines_->counters(); }

}  // namespace opkit
