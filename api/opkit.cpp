#include "api/opkit.h"

#include <algorithm>
#include <cstring>
#include <exception>

#include "engine/import/onnx/onnx_importer.h"
#include "engine/runtime/session.h"
#include "ops/builtin_ops.h"

namespace opkit::api {
namespace {

/// Stops every exception (out of memory, above all) and reports Statuses the way this header does.
template <class Body>
bool guarded(std::string& error, Body body) {
  try {
    const Status status = body();
    error = status.message();
    return status.isOk();
  } catch (const std::exception& exception) {
    error = exception.what();
    return false;
  }
}

bool isOpk(const std::vector<uint8_t>& bytes) {
  return bytes.size() >= 8 && std::memcmp(bytes.data() + 4, "OPKT", 4) == 0;
}

Result<Model> load(const std::string& path) {
  OPKIT_ASSIGN(const std::vector<uint8_t> bytes, readFile(path));
  auto model = isOpk(bytes) ? readModel(bytes) : importOnnx(bytes, ops::builtinOnnxRules(), ops::builtinOps());
  return model ? std::move(model) : Result<Model>(model.error().withContext(fmt::format("model '{}'", path)));
}

TensorInfo infoOf(const std::string& name, const TensorDesc& desc) { return {name, nameOf(desc.dtype), desc.shape}; }

}  // namespace

struct Network::State {
  std::shared_ptr<Interpreter> interpreter;  // shared: as the engine hands it out
  std::unique_ptr<Session> session;
};

std::string version() { return OPKIT_VERSION; }

std::vector<std::string> backends() {
  std::vector<std::string> names;
  for (const BackendKind& kind : backendKinds()) names.push_back(kind.name);
  return names;
}

Network::Network(std::unique_ptr<State> state) : state_(std::move(state)) {}
Network::~Network() = default;

std::unique_ptr<Network> Network::open(const std::string& path, const Options& options, std::string& error) {
  auto state = std::make_unique<State>();
  const bool opened = guarded(error, [&]() -> Status {
    OPKIT_ASSIGN(Model model, load(path));
    OPKIT_ASSIGN(state->interpreter, Interpreter::create(std::move(model), ops::builtinOps()));
    SessionConfig config;
    config.backend = options.backend;
    config.device = options.device;
    config.threads = options.threads;
    config.allowFallback = options.allowFallback;
    OPKIT_ASSIGN(state->session, state->interpreter->createSession(config));
    return Status::ok();
  });
  return opened ? std::unique_ptr<Network>(new Network(std::move(state))) : nullptr;
}

std::vector<TensorInfo> Network::inputs() const {
  const Model& model = state_->interpreter->model();
  std::vector<TensorInfo> list;
  for (int input : model.inputs) {
    const ModelTensor& tensor = model.tensors[static_cast<size_t>(input)];
    list.push_back(infoOf(tensor.name, tensor.desc));
  }
  return list;
}

std::vector<TensorInfo> Network::outputs() const {
  std::vector<TensorInfo> list;
  for (const std::string& name : state_->session->outputNames()) {
    const Tensor* tensor = state_->session->output(name);
    list.push_back(tensor ? infoOf(name, tensor->desc) : TensorInfo{name, "", {}});
  }
  return list;
}

bool Network::setInput(const std::string& name, const std::vector<int64_t>& shape, const void* data, size_t bytes,
                       std::string& error) {
  return guarded(error, [&]() -> Status {
    OPKIT_TRY(state_->session->resizeInput(name, shape));
    const Tensor& tensor = *state_->session->input(name);
    if (bytes != tensor.sizeBytes() || (bytes > 0 && !data))
      return Status::invalidArgument("input '{}': {} needs {} bytes, got {}", name, tensor.desc.toString(),
                                     tensor.sizeBytes(), bytes);
    if (bytes > 0) std::memcpy(tensor.bytes().data(), data, bytes);
    return Status::ok();
  });
}

bool Network::run(std::string& error) {
  return guarded(error, [&] { return state_->session->run(); });
}

const void* Network::output(const std::string& name, size_t* bytes) const {
  const Tensor* tensor = state_->session->output(name);
  if (bytes) *bytes = tensor && tensor->buffer ? tensor->sizeBytes() : 0;
  return tensor && tensor->buffer ? tensor->bytes().data() : nullptr;
}

std::vector<Placement> Network::placement() const {
  std::vector<Placement> list;
  for (const opkit::Placement& row : state_->session->placement()) {
    Placement one{row.node, row.type, row.backend, row.provider, {}, row.fellBack, row.copiedBytes};
    for (const Refusal& refusal : row.refusals) one.refusals.push_back(refusal.provider + ": " + refusal.reason);
    list.push_back(std::move(one));
  }
  return list;
}

}  // namespace opkit::api
