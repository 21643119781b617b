#include "engine/graph/model_edit.h"

namespace opkit {

ModelEdit::ModelEdit(Model& model)
    : model_(model),
      producer_(model.tensors.size(), -1),
      readers_(model.tensors.size(), 0),
      readerNodes_(model.tensors.size()),
      isInput_(model.tensors.size(), false),
      isOutput_(model.tensors.size(), false),
      removed_(model.nodes.size(), false) {
  for (size_t n = 0; n < model.nodes.size(); ++n) {
    for (int output : model.nodes[n].outputs)
      if (output >= 0) producer_[static_cast<size_t>(output)] = static_cast<int>(n);
    readInputs(model.nodes[n], 1);
    noteReader(n);
  }
  for (int input : model.inputs) isInput_[static_cast<size_t>(input)] = true;
  for (int output : model.outputs) {
    isOutput_[static_cast<size_t>(output)] = true;
    ++readers_[static_cast<size_t>(output)];
  }
}

void ModelEdit::readInputs(const ModelNode& node, int change) {
  for (int input : node.inputs)
    if (input >= 0) readers_[static_cast<size_t>(input)] += static_cast<size_t>(change);
}

void ModelEdit::noteReader(size_t node) {
  for (int input : model_.nodes[node].inputs)
    if (input >= 0) readerNodes_[static_cast<size_t>(input)].push_back(node);
}

ModelNode* ModelEdit::producer(int tensor) const {
  const int node = tensor < 0 ? -1 : producer_[static_cast<size_t>(tensor)];
  return node < 0 ? nullptr : &model_.nodes[static_cast<size_t>(node)];
}

ModelNode* ModelEdit::producer(int tensor, std::string_view type) const {
  ModelNode* node = producer(tensor);
  return node && node->type == type ? node : nullptr;
}

size_t ModelEdit::readerCount(int tensor) const { return readers_[static_cast<size_t>(tensor)]; }
bool ModelEdit::isInput(int tensor) const { return isInput_[static_cast<size_t>(tensor)]; }
bool ModelEdit::isOutput(int tensor) const { return isOutput_[static_cast<size_t>(tensor)]; }

const Tensor* ModelEdit::constant(int tensor) const {
  if (tensor < 0) return nullptr;
  const std::optional<Tensor>& value = model_.tensors[static_cast<size_t>(tensor)].constant;
  return value ? &*value : nullptr;
}

std::optional<float> ModelEdit::scalar(int tensor) const {
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
  producer_.push_back(-1);
  readers_.push_back(0);
  readerNodes_.emplace_back();
  isInput_.push_back(false);
  isOutput_.push_back(false);
}

int ModelEdit::addConstant(const std::string& name, Tensor value) {
  noteTensor();
  return model_.addConstant(uniqueName(name), std::move(value));
}

int ModelEdit::addNode(ModelNode node) {
  noteTensor();
  node.outputs = {model_.addTensor(uniqueName(node.name))};
  readInputs(node, 1);
  added_.push_back(std::move(node));
  return added_.back().outputs[0];
}

void ModelEdit::replaceReaders(int from, int to) {
  if (from == to) return;
  for (const size_t n : std::exchange(readerNodes_[static_cast<size_t>(from)], {})) {
    if (removed_[n]) continue;
    for (size_t i = 0; i < model_.nodes[n].inputs.size(); ++i)
      if (model_.nodes[n].inputs[i] == from) replaceInput(model_.nodes[n], i, to);
  }
}

void ModelEdit::moveOutput(ModelNode& node, size_t output, int tensor) {
  const int old = node.outputs[output];
  if (old >= 0 && producer_[static_cast<size_t>(old)] == static_cast<int>(indexOf(node)))
    producer_[static_cast<size_t>(old)] = -1;
  node.outputs[output] = tensor;
  producer_[static_cast<size_t>(tensor)] = static_cast<int>(indexOf(node));
}

void ModelEdit::replaceInput(ModelNode& node, size_t input, int tensor) {
  if (node.inputs.size() <= input) node.inputs.resize(input + 1, -1);
  if (node.inputs[input] >= 0) --readers_[static_cast<size_t>(node.inputs[input])];
  node.inputs[input] = tensor;
  if (tensor < 0) return;
  ++readers_[static_cast<size_t>(tensor)];
  readerNodes_[static_cast<size_t>(tensor)].push_back(indexOf(node));
}

void ModelEdit::replaceNode(ModelNode& node, const ModelNode& with) {
  OPKIT_CHECK(node.outputs == with.outputs);
  readInputs(node, -1);
  readInputs(with, 1);
  node = with;
  noteReader(indexOf(node));
}

void ModelEdit::remove(ModelNode& node) {
  const size_t n = indexOf(node);
  OPKIT_CHECK(!removed_[n]);
  removed_[n] = true;
  readInputs(node, -1);
  for (int output : node.outputs)
    if (output >= 0 && producer_[static_cast<size_t>(output)] == static_cast<int>(n))
      producer_[static_cast<size_t>(output)] = -1;
}

Result<size_t> ModelEdit::finish() {
  std::vector<ModelNode> kept;
  for (size_t n = 0; n < model_.nodes.size(); ++n)
    if (!removed_[n]) kept.push_back(std::move(model_.nodes[n]));
  std::ranges::move(std::exchange(added_, {}), std::back_inserter(kept));
  model_.nodes = std::move(kept);
  for (size_t t = 0; t < model_.tensors.size(); ++t)
    if (readers_[t] == 0) model_.tensors[t].constant.reset();
  OPKIT_TRY(sortTopologically(model_));
  return changes_;
}

}  // namespace opkit
