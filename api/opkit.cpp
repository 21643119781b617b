#include "api/opkit.h"

#include <algorithm>
#include <cstring>

#include "engine/base/guard.h"
#include "engine/base/host_memory.h"
#include "engine/import/onnx/onnx_importer.h"
#include "engine/runtime/session.h"
#include "ops/builtin_ops.h"

namespace opkit::api {
namespace {

/// Reports a Status the way this header does; exceptions (out of memory, above all) are Statuses too.
template <class Body>
bool reported(std::string& error, Body body) {
  const Status status = opkit::guarded(body);
  try {
    error = status.message();
  } catch (...) {
    error.clear();  // no memory for a message either
  }
  return status.isOk();
}

/// The result of `body`, or an empty one if memory runs out.
template <class Body>
auto orEmpty(Body body) -> decltype(body()) {
  try {
    return body();
  } catch (...) {
    return {};
  }
}

Result<Model> load(const std::string& path) {
  auto model = readModelFile(path, ops::builtinOnnxRules(), ops::builtinOps());
  return model ? std::move(model) : Result<Model>(model.error().withContext(fmt::format("model '{}'", path)));
}

TensorInfo infoOf(const std::string& name, const TensorDesc& desc) { return {name, nameOf(desc.dtype), desc.shape}; }

}  // namespace

struct Network::State {
  std::shared_ptr<Interpreter> interpreter;  // shared: as the engine returns it
  std::unique_ptr<Session> session;
};

std::string version() { return OPKIT_VERSION; }

std::vector<std::string> backends() {
  return orEmpty([] {
    std::vector<std::string> names;
    for (const BackendKind& kind : backendKinds()) names.push_back(kind.name);
    return names;
  });
}

void setHostMemoryLimit(uint64_t bytes) { opkit::setHostMemoryLimit(bytes); }

Network::Network(std::unique_ptr<State> state) : state_(std::move(state)) {}
Network::~Network() = default;

std::unique_ptr<Network> Network::open(const std::string& path, const Options& options, std::string& error) {
  std::unique_ptr<Network> network;
  const bool opened = reported(error, [&]() -> Status {
    auto state = std::make_unique<State>();
    OPKIT_ASSIGN(Model model, load(path));
    OPKIT_ASSIGN(state->interpreter, Interpreter::create(std::move(model), ops::builtinOps()));
    SessionConfig config;
    config.backend = options.backend;
    config.device = options.device;
    config.threads = options.threads;
    config.allowFallback = options.allowFallback;
    OPKIT_ASSIGN(state->session, state->interpreter->createSession(config));
    network.reset(new Network(std::move(state)));
    return Status::ok();
  });
  return opened ? std::move(network) : nullptr;
}

std::vector<TensorInfo> Network::inputs() const {
  return orEmpty([this] {
    const Model& model = state_->interpreter->model();
    std::vector<TensorInfo> list;
    for (int input : model.inputs) {
      const ModelTensor& tensor = model.tensors[static_cast<size_t>(input)];
      list.push_back(infoOf(tensor.name, tensor.desc));
    }
    return list;
  });
}

std::vector<TensorInfo> Network::outputs() const {
  return orEmpty([this] {
    std::vector<TensorInfo> list;
    for (const std::string& name : state_->session->outputNames()) {
      const Tensor* tensor = state_->session->output(name);
      list.push_back(tensor ? infoOf(name, tensor->desc) : TensorInfo{name, "", {}});
    }
    return list;
  });
}

bool Network::setInput(const std::string& name, const std::vector<int64_t>& shape, const void* data, size_t bytes,
                       std::string& error) {
  return reported(error, [&]() -> Status {
    Session& session = *state_->session;
    OPKIT_ASSIGN(const TensorDesc wanted, session.inputDesc(name, shape));
    if (bytes != wanted.sizeBytes() || (bytes > 0 && !data))
      return Status::invalidArgument("input '{}': {} needs {} bytes, got {}", name, wanted.toString(),
                                     wanted.sizeBytes(), data ? bytes : 0);
    OPKIT_TRY(session.resizeInput(name, shape));
    const Tensor& tensor = *session.input(name);
    if (bytes > 0) std::memcpy(tensor.bytes().data(), data, bytes);
    return Status::ok();
  });
}

bool Network::run(std::string& error) {
  return reported(error, [&] { return state_->session->run(); });
}

const void* Network::output(const std::string& name, size_t* bytes) const {
  const Tensor* tensor = orEmpty([&] { return state_->session->output(name); });
  if (bytes) *bytes = tensor && tensor->buffer ? tensor->sizeBytes() : 0;
  return tensor && tensor->buffer ? tensor->bytes().data() : nullptr;
}

std::vector<Placement> Network::placement() const {
  return orEmpty([this] {
    std::vector<Placement> list;
    for (const opkit::Placement& row : state_->session->placement()) {
      Placement one{row.node, row.type, row.backend, row.provider, {}, row.fellBack, row.copiedBytes};
      for (const Refusal& refusal : row.refusals) one.refusals.push_back(refusal.provider + ": " + refusal.reason);
      list.push_back(std::move(one));
    }
    return list;
  });
}

}  // namespace opkit::api
