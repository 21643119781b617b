#include "engine/graph/model_edit.h"

namespace opkit {

ModelEdit::ModelEdit(Model& model)
    : model_(model),
      producer_(model.tensors.size()),
      readers_(model.tensors.size(), 0),
      readerNodes_(model.tensors.size()),
      isInput_(model.tensors.size(), false),
      isOutput_(model.tensors.size(), false),
      removed_(model.nodes.size(), false) {
  for (const NodeId n : model.nodes.ids()) {
    for (const TensorId output : model.nodes[n].outputs)
      if (output) producer_[output] = n;
    readInputs(model.nodes[n], 1);
    noteReader(n);
  }
  for (const TensorId input : model.inputs) isInput_[input] = true;
  for (const TensorId output : model.outputs) {
    isOutput_[output] = true;
    ++readers_[output];
  }
}

void ModelEdit::readInputs(const ModelNode& node, int change) {
  for (const TensorId input : node.inputs)
    if (input) readers_[input] += static_cast<size_t>(change);
}

void ModelEdit::noteReader(NodeId node) {
  for (const TensorId input : model_.nodes[node].inputs)
    if (input) readerNodes_[input].push_back(node);
}

ModelNode* ModelEdit::producer(TensorId tensor) const {
  const NodeId node = tensor ? producer_[tensor] : NodeId();
  return node ? &model_.nodes[node] : nullptr;
}

ModelNode* ModelEdit::producer(TensorId tensor, std::string_view type) const {
  ModelNode* node = producer(tensor);
  return node && node->type == type ? node : nullptr;
}

size_t ModelEdit::readerCount(TensorId tensor) const { return readers_[tensor]; }
bool ModelEdit::isInput(TensorId tensor) const { return isInput_[tensor]; }
bool ModelEdit::isOutput(TensorId tensor) const { return isOutput_[tensor]; }

const Tensor* ModelEdit::constant(TensorId tensor) const {
  if (!tensor) return nullptr;
  const std::optional<Tensor>& value = model_.tensors[tensor].constant;
  return value ? &*value : nullptr;
}

std::optional<float> ModelEdit::scalar(TensorId tensor) const {
  const Tensor* value = constant(tensor);
  if (!value || value->desc.elements() != 1) return std::nullopt;
  if (value->desc.dtype == DType::Float32) return value->data<float>()[0];
  if (value->desc.dtype == DType::Float16) return toFloat(value->data<Half>()[0]);
  if (value->desc.dtype == DType::Float64) return static_cast<float>(value->data<double>()[0]);
  return std::nullopt;
}

std::string ModelEdit::uniqueName(const std::string& name) {
  if (names_.empty())
    for (const ModelTensor& tensor : model_.tensors) names_.insert(tensor.name);
  std::string unique = name;
  while (!names_.insert(unique).second)
    unique = fmt::format("{}_{}", name, ++numbers_.try_emplace(name, 1).first->second);
  return unique;
}

void ModelEdit::noteTensor() {
  producer_.push_back({});
  readers_.push_back(0);
  readerNodes_.push_back({});
  isInput_.push_back(false);
  isOutput_.push_back(false);
}

TensorId ModelEdit::addConstant(const std::string& name, Tensor value) {
  noteTensor();
  return model_.addConstant(uniqueName(name), std::move(value));
}

TensorId ModelEdit::addNode(ModelNode node) {
  noteTensor();
  node.outputs = {model_.addTensor(uniqueName(node.name))};
  readInputs(node, 1);
  added_.push_back(std::move(node));
  return added_.back().outputs[0];
}

void ModelEdit::replaceReaders(TensorId from, TensorId to) {
  if (from == to) return;
  for (const NodeId n : std::exchange(readerNodes_[from], {})) {
    if (removed_[n]) continue;
    for (size_t i = 0; i < model_.nodes[n].inputs.size(); ++i)
      if (model_.nodes[n].inputs[i] == from) replaceInput(model_.nodes[n], i, to);
  }
}

void ModelEdit::moveOutput(ModelNode& node, size_t output, TensorId tensor) {
  const TensorId old = node.outputs[output];
  if (old && producer_[old] == indexOf(node)) producer_[old] = {};
  node.outputs[output] = tensor;
  producer_[tensor] = indexOf(node);
}

void ModelEdit::replaceInput(ModelNode& node, size_t input, TensorId tensor) {
  if (node.inputs.size() <= input) node.inputs.resize(input + 1);
  if (node.inputs[input]) --readers_[node.inputs[input]];
  node.inputs[input] = tensor;
  if (!tensor) return;
  ++readers_[tensor];
  readerNodes_[tensor].push_back(indexOf(node));
}

void ModelEdit::replaceNode(ModelNode& node, const ModelNode& with) {
  OPKIT_CHECK(node.outputs == with.outputs);
  readInputs(node, -1);
  readInputs(with, 1);
  node = with;
  noteReader(indexOf(node));
}

void ModelEdit::remove(ModelNode& node) {
  const NodeId n = indexOf(node);
  OPKIT_CHECK(!removed_[n]);
  removed_[n] = true;
  readInputs(node, -1);
  for (const TensorId output : node.outputs)
    if (output && producer_[output] == n) producer_[output] = {};
}

Result<size_t> ModelEdit::finish() {
  IndexedVector<NodeId, ModelNode> kept;
  kept.reserve(model_.nodes.size() + added_.size());
  for (const NodeId n : model_.nodes.ids())
    if (!removed_[n]) kept.push_back(std::move(model_.nodes[n]));
  for (ModelNode& node : added_) kept.push_back(std::move(node));
  added_.clear();
  model_.nodes = std::move(kept);
  for (const TensorId t : model_.tensors.ids()) {
    if (readers_[t] != 0) continue;
    model_.tensors[t].constant.reset();
    model_.tensors[t].defaultOf.reset();
  }
  OPKIT_TRY(sortTopologically(model_));
  return changes_;
}

}  // namespace opkit
