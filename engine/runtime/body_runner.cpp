#include "engine/runtime/body_runner.h"

#include <utility>

#include "engine/tensor/objects.h"

namespace opkit {
namespace {

/// The outputs of a subgraph that are made in it. The others are inputs, which the caller hands on. At least one, since
/// each model has an output.
std::vector<TensorId> madeOutputs(const Model& subgraph) {
  std::vector<TensorId> made;
  for (const TensorId output : subgraph.outputs)
    if (std::ranges::find(subgraph.inputs, output) == subgraph.inputs.end() &&
        std::ranges::find(made, output) == made.end())
      made.push_back(output);
  if (made.empty() && !subgraph.outputs.empty()) made.push_back(subgraph.outputs.front());
  return made;
}

/// Nobody writes to a value while the node runs.
bool isSame(const Tensor& one, const Tensor& other) {
  return one.buffer && one.buffer == other.buffer && one.offsetBytes == other.offsetBytes && one.desc == other.desc;
}

}  // namespace

Model bodyOf(const Subgraph& subgraph) {
  Model body = subgraph.model;
  body.outputs = madeOutputs(body);
  for (const TensorId input : body.inputs)  // values decide: graph passes must not believe the description
    std::ranges::fill(body.tensors[input].desc.shape, kDynamic);
  for (ModelTensor& tensor : body.tensors) tensor.defaultOf.reset();  // the whole model has it
  return body;
}

std::vector<InputSource> sourcesOf(const Subgraph& subgraph) {
  std::vector<InputSource> sources(subgraph.model.inputs.size(), InputSource::Run);
  std::fill(sources.end() - static_cast<std::ptrdiff_t>(subgraph.captures.size()), sources.end(), InputSource::Capture);
  return sources;
}

BodyRunner::BodyRunner(const std::string& node, const Subgraph& subgraph, std::unique_ptr<Session> session,
                       SessionShare& share, RunPart runPart)
    : subgraph_(subgraph),
      prefix_(fmt::format("{}/{}/", node, subgraph.name)),
      made_(madeOutputs(subgraph.model)),
      session_(std::move(session)),
      share_(share),
      runPart_(std::move(runPart)) {}

void BodyRunner::capture(const RunInputs& nodeInputs) {
  runs_ = 0;
  bound_.clear();
  captured_.clear();
  capturedVersions_.clear();
  for (const int position : subgraph_.captures) {
    captured_.push_back(nodeInputs.tensors[static_cast<size_t>(position)]);
    capturedVersions_.push_back(nodeInputs.versions[static_cast<size_t>(position)]);
  }
}

Result<std::vector<Tensor>> BodyRunner::run(std::span<const Tensor> inputs) {
  if (!std::ranges::all_of(inputs, hasValue) || !std::ranges::all_of(captured_, hasValue)) {
    OPKIT_ASSIGN(const std::vector<TensorDesc> descs, outputDescs(inputs));
    std::vector<Tensor> outputs;
    for (const TensorDesc& desc : descs) outputs.push_back(withoutValue(desc));
    return outputs;
  }
  const size_t limit = session_->config().iterationLimit;
  if (limit > 0 && runs_ == limit)
    return Status::invalidArgument(
        "{}: it ran {} times and no condition ended it; expected an end, or a higher limit "
        "(SessionConfig::iterationLimit, op-run --iteration-limit)",
        subgraph_.name, limit);
  ++runs_;
  OPKIT_TRY(bind(inputs));
  OPKIT_TRY(runPart_(*session_, prefix_).withContext(subgraph_.name));
  std::vector<Tensor> outputs;
  for (size_t i = 0; i < outputCount(); ++i) {
    OPKIT_ASSIGN(Tensor value, output(i, inputs));
    outputs.push_back(std::move(value));
  }
  return outputs;
}

Result<Tensor> BodyRunner::output(size_t i, std::span<const Tensor> inputs) const {
  const Tensor* given = handedOn(i, inputs);
  if (!given) return copyOf(session_->outputs()[madeAs(i)]);
  const ModelTensor& declared = subgraph_.model.tensors[subgraph_.model.outputs[i]];
  OPKIT_TRY(checkDeclared(declared, given->desc).withContext(subgraph_.name));
  return *given;
}

/// Where shapes alone do not tell, a run tells whose values nobody sees, if there are values to run with.
Result<std::vector<TensorDesc>> BodyRunner::outputDescs(std::span<const Tensor> inputs) {
  OPKIT_TRY(bind(inputs));
  OPKIT_ASSIGN(const std::vector<TensorDesc> made, madeDescs(inputs));
  std::vector<TensorDesc> descs;
  for (size_t i = 0; i < outputCount(); ++i) {
    const Tensor* given = handedOn(i, inputs);
    descs.push_back(given ? given->desc : made[madeAs(i)]);
  }
  return descs;
}

/// Of the session's outputs, for the inputs that are bound.
Result<std::vector<TensorDesc>> BodyRunner::madeDescs(std::span<const Tensor> inputs) {
  auto descs = session_->plannedOutputs();
  if (descs) return descs;
  const bool canRun = std::ranges::all_of(inputs, hasValue) && std::ranges::all_of(captured_, hasValue);
  if (descs.error().code() != StatusCode::Unsupported || !canRun)
    return descs.error().withContext(subgraph_.name + ": the shapes of its outputs");
  if (const Status status = session_->run(); !status.isOk())
    return Status::unsupported("{}: no iteration gives the shapes of its outputs, which depend on values ({})",
                               subgraph_.name, status.message());
  return session_->outputDescs();
}

Status BodyRunner::bind(std::span<const Tensor> inputs) {
  if (inputs.size() != inputCount())
    return Status::invalidArgument("{}: takes {} inputs, got {}", subgraph_.name, inputCount(), inputs.size());
  bound_.resize(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    Bound& last = bound_[i];
    if (!isSame(last.tensor, inputs[i])) last = {inputs[i], ++share_.lastVersion};
    session_->bindInput(i, inputs[i], last.version);
  }
  for (size_t i = 0; i < captured_.size(); ++i)
    session_->bindInput(inputs.size() + i, captured_[i], capturedVersions_[i]);
  return Status::ok();
}

/// The value of an output that is an input of the subgraph; null for others. It may be one that no backend holds.
const Tensor* BodyRunner::handedOn(size_t output, std::span<const Tensor> inputs) const {
  const std::vector<TensorId>& all = subgraph_.model.inputs;
  const auto found = std::ranges::find(all, subgraph_.model.outputs[output]);
  if (found == all.end()) return nullptr;
  const auto i = static_cast<size_t>(found - all.begin());
  return i < inputs.size() ? &inputs[i] : &captured_[i - inputs.size()];
}

/// The session's output for one of the subgraph that is made in it.
size_t BodyRunner::madeAs(size_t output) const {
  return static_cast<size_t>(std::ranges::find(made_, subgraph_.model.outputs[output]) - made_.begin());
}

}  // namespace opkit
