#include "api/opkit.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

#include "engine/base/fork_count.h"
#include "engine/base/guard.h"
#include "engine/base/host_memory.h"
#include "engine/import/onnx/onnx_importer.h"
#include "engine/runtime/session.h"
#include "engine/tensor/objects.h"
#include "ops/builtin_ops.h"
#include "ops/features/zip_map.h"

namespace opkit::api {
namespace {

/// Reports a Status the way this header does, in one line whatever the names in it; exceptions (out of memory, above
/// all) are Statuses too.
template <class Body>
bool reported(std::string& error, Body body) {
  const Status status = opkit::guarded(body);
  try {
    error = status.message();
    std::ranges::replace_if(
        error, [](char c) { return static_cast<unsigned char>(c) < ' '; }, ' ');
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

TensorInfo infoOf(const std::string& name, const TensorDesc& desc) {
  return {name, nameOf(desc.dtype), desc.shape.toVector()};
}

bool hasDefault(const Session& session, const std::string& name) {
  const std::vector<std::string> names = session.defaultNames();
  return std::ranges::find(names, name) != names.end();
}

bool isList(DType dtype) { return dtype == DType::Sequence || dtype == DType::Optional; }

Result<DType> dtypeOf(const Value& value) {
  const std::optional<DType> dtype = dtypeFromName(value.dtype);
  return dtype ? *dtype : Result<DType>(Status::invalidArgument("no dtype is called '{}'", value.dtype));
}

Result<Tensor> tensorOf(const Value& value);

/// Checks what is held before it looks inside, so that no value is too deep for the stack.
Result<Tensor> listOf(DType dtype, const Value& value) {
  std::vector<Tensor> values;
  for (const Value& one : value.values) {
    OPKIT_ASSIGN(const DType held, dtypeOf(one));
    OPKIT_TRY(checkHeld(dtype, held));
    OPKIT_ASSIGN(Tensor tensor, tensorOf(one));
    values.push_back(std::move(tensor));
  }
  if (dtype == DType::Sequence) return sequenceOf(std::move(values));
  if (values.size() > 1) return Status::invalidArgument("an optional has one value or none, got {}", values.size());
  return optionalOf(values.empty() ? std::nullopt : std::optional(std::move(values[0])));
}

/// As the engine has it, on the host.
Result<Tensor> tensorOf(const Value& value) {
  OPKIT_ASSIGN(const DType dtype, dtypeOf(value));
  if (isList(dtype)) return listOf(dtype, value);
  OPKIT_TRY(checkShape(value.shape));
  const TensorDesc desc{dtype, value.shape};
  if (dtype == DType::String) {
    if (static_cast<int64_t>(value.strings.size()) != desc.elements())
      return Status::invalidArgument("{} needs {} strings, got {}", desc.toString(), desc.elements(),
                                     value.strings.size());
    return stringTensor(desc.shape, value.strings);
  }
  if (value.bytes.size() != desc.sizeBytes())
    return Status::invalidArgument("{} needs {} bytes, got {}", desc.toString(), desc.sizeBytes(), value.bytes.size());
  OPKIT_ASSIGN(Tensor tensor, Tensor::onHost(desc, Fill::None));
  std::ranges::copy(value.bytes, tensor.bytes().begin());
  return tensor;
}

Value valueOf(const Tensor& tensor) {
  const DType dtype = tensor.desc.dtype;
  Value value{nameOf(dtype)};
  if (isList(dtype)) {
    for (const Tensor& one : valuesOf(tensor)) value.values.push_back(valueOf(one));
    return value;
  }
  value.shape = tensor.desc.shape.toVector();
  if (dtype == DType::String)
    value.strings = stringsOf(tensor);
  else
    value.bytes.assign(tensor.bytes().begin(), tensor.bytes().end());
  return value;
}

Status checkBytes(const std::string& name, const TensorDesc& wanted, const std::string& dtype, const void* data,
                  size_t bytes) {
  if (isObject(wanted.dtype))
    return Status::invalidArgument("input '{}' is {}, which has no bytes; set it from a Value", name,
                                   wanted.toString());
  if (dtype != nameOf(wanted.dtype))
    return Status::invalidArgument("input '{}': expected {}, got {}", name, nameOf(wanted.dtype), dtype);
  if (bytes == wanted.sizeBytes() && (bytes == 0 || data)) return Status::ok();
  return Status::invalidArgument("input '{}': {} needs {} bytes, got {}", name, wanted.toString(), wanted.sizeBytes(),
                                 data ? bytes : 0);
}

Status setDefaultOf(Session& session, const std::string& name, const std::string& dtype,
                    const std::vector<int64_t>& shape, const void* data, size_t bytes) {
  OPKIT_TRY(checkShape(shape).withContext(fmt::format("input '{}'", name)));
  const TensorDesc wanted{session.inputType(name), shape};
  OPKIT_TRY(checkBytes(name, wanted, dtype, data, bytes));
  OPKIT_ASSIGN(Tensor value, Tensor::onHost(wanted, Fill::None));
  if (bytes > 0) std::memcpy(value.bytes().data(), data, bytes);
  return session.setDefault(name, value);
}

}  // namespace

ValueList::ValueList() = default;
ValueList::ValueList(ValueList&& other) noexcept = default;

ValueList& ValueList::operator=(ValueList other) noexcept {
  swap(other);
  return *this;
}

/// List by list: each element is copied without the values in it, which follow.
ValueList::ValueList(const ValueList& other) : vector() {
  std::vector<std::pair<const ValueList*, ValueList*>> copies{{&other, this}};
  while (!copies.empty()) {
    const auto [from, to] = copies.back();
    copies.pop_back();
    to->reserve(from->size());
    for (const Value& value : *from) {
      to->push_back({value.dtype, value.shape, value.bytes, value.strings});
      if (!value.values.empty()) copies.emplace_back(&value.values, &to->back().values);
    }
  }
}

/// Level by level, so that no element is destroyed with values in it; by recursion if there is no memory for that.
ValueList::~ValueList() {
  try {
    while (!empty()) {
      std::vector<Value> below;
      for (Value& value : *this) std::ranges::move(value.values, std::back_inserter(below));
      vector::swap(below);
    }
  } catch (...) {
  }
}

struct Network::State {
  std::shared_ptr<Interpreter> interpreter;  // shared: as the engine returns it
  std::unique_ptr<Session> session;
  std::vector<std::vector<std::string>> columns;  // of each output
  const uint64_t forksAtOpen = forkCount();

  /// From a process that forked this one: the threads of the pool and of the driver are not here.
  bool isInherited() const { return forkCount() != forksAtOpen; }
  Status requireOwn() const {
    if (!isInherited()) return Status::ok();
    return Status::invalidArgument("the network was opened before a fork; open another one in the child process");
  }
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

Network::~Network() {
  if (state_ && state_->isInherited()) static_cast<void>(state_.release());  // see the header
}

std::unique_ptr<Network> Network::open(const std::string& path, const Options& options, std::string& error) {
  std::unique_ptr<Network> network;
  const bool opened = reported(error, [&]() -> Status {
    auto state = std::make_unique<State>();
    OPKIT_ASSIGN(Model model, load(path));
    for (size_t i = 0; i < model.outputs.size(); ++i) state->columns.push_back(ops::features::columnLabels(model, i));
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
    for (const TensorId input : model.inputs) {
      const ModelTensor& tensor = model.tensors[input];
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
      std::vector<std::string> columns = state_->columns[list.size()];
      list.push_back(tensor ? infoOf(name, tensor->desc) : TensorInfo{name, "", {}});
      list.back().columns = std::move(columns);
    }
    return list;
  });
}

bool Network::setInput(const std::string& name, const std::string& dtype, const std::vector<int64_t>& shape,
                       const void* data, size_t bytes, std::string& error) {
  return reported(error, [&]() -> Status {
    OPKIT_TRY(state_->requireOwn());
    Session& session = *state_->session;
    if (hasDefault(session, name)) return setDefaultOf(session, name, dtype, shape, data, bytes);
    OPKIT_ASSIGN(const TensorDesc wanted, session.inputDesc(name, shape));
    OPKIT_TRY(checkBytes(name, wanted, dtype, data, bytes));
    OPKIT_TRY(session.resizeInput(name, shape));
    const Tensor& tensor = *session.fillInput(name);
    if (bytes > 0) std::memcpy(tensor.bytes().data(), data, bytes);
    return Status::ok();
  });
}

bool Network::setInput(const std::string& name, const Value& value, std::string& error) {
  return reported(error, [&]() -> Status {
    OPKIT_TRY(state_->requireOwn());
    Session& session = *state_->session;
    Result<Tensor> tensor = tensorOf(value);
    if (!tensor) return tensor.error().withContext(fmt::format("input '{}'", name));
    if (hasDefault(session, name)) return session.setDefault(name, *tensor);
    OPKIT_ASSIGN(const TensorDesc wanted, session.inputDesc(name, tensor->desc.shape));
    if (wanted.dtype != tensor->desc.dtype)
      return Status::invalidArgument("input '{}': expected {}, got {}", name, nameOf(wanted.dtype), value.dtype);
    OPKIT_TRY(session.resizeInput(name, tensor->desc.shape));
    *session.fillInput(name) = *std::move(tensor);
    return Status::ok();
  });
}

bool Network::run(std::string& error) {
  return reported(error, [&]() -> Status {
    OPKIT_TRY(state_->requireOwn());
    return state_->session->run();
  });
}

const void* Network::output(const std::string& name, size_t* bytes) const {
  const Tensor* tensor = orEmpty([&] { return state_->session->output(name); });
  const bool hasBytes = tensor && tensor->buffer && !isObject(tensor->desc.dtype);
  if (bytes) *bytes = hasBytes ? tensor->sizeBytes() : 0;
  return hasBytes ? tensor->bytes().data() : nullptr;
}

bool Network::output(const std::string& name, Value& value, std::string& error) const {
  return reported(error, [&]() -> Status {
    const Tensor* tensor = state_->session->output(name);
    if (!tensor) {
      const std::vector<std::string> names = state_->session->outputNames();
      const bool known = std::ranges::find(names, name) != names.end();
      return known ? Status::invalidArgument("output '{}' has no value: the last run failed, or there was none", name)
                   : Status::invalidArgument("no output is called '{}'", name);
    }
    value = valueOf(*tensor);
    return Status::ok();
  });
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
