#include "engine/tools/model_listing.h"

#include "engine/base/printable.h"
#include "engine/op/op_registry.h"

namespace opkit {
namespace {

std::string nameOfTensor(const Model& model, TensorId index) {
  return !index ? "-" : printable(model.tensors[index].name);
}

std::string namesOf(const Model& model, const std::vector<TensorId>& indices) {
  std::string text;
  for (TensorId index : indices) text += (text.empty() ? "" : ", ") + nameOfTensor(model, index);
  return text;
}

/// The value of a small integer constant, which is often a shape: " = 1, 3, 224".
std::string shortValue(const Tensor& tensor) {
  constexpr int64_t kMost = 8;
  if (isFloat(tensor.desc.dtype) || tensor.desc.elements() > kMost) return "";
  return fmt::format(" = {}", fmt::join(toInt64(tensor), ", "));
}

/// "f32[batch,3]": extents without a value have their names, if the model names them.
std::string descText(const ModelTensor& tensor) {
  const Shape& shape = tensor.desc.shape;
  if (tensor.extentNames.size() != shape.size()) return tensor.desc.toString();
  std::vector<std::string> extents;
  for (size_t d = 0; d < shape.size(); ++d)
    extents.push_back(shape[d] != kDynamic            ? fmt::to_string(shape[d])
                      : tensor.extentNames[d].empty() ? "?"
                                                      : printable(tensor.extentNames[d]));
  return fmt::format("{}[{}]", nameOf(tensor.desc.dtype), fmt::join(extents, ","));
}

/// `indent` precedes every line. Descriptions of a subgraph's inputs are not binding and not listed.
std::string listGraph(const Model& model, const OpRegistry& registry, const std::string& indent) {
  std::string text;
  for (TensorId index : model.inputs) {
    const ModelTensor& tensor = model.tensors[index];
    text +=
        fmt::format("{}input    {}{}\n", indent, printable(tensor.name), indent.empty() ? " " + descText(tensor) : "");
  }
  for (TensorId index : model.outputs) text += fmt::format("{}output   {}\n", indent, nameOfTensor(model, index));
  size_t constantBytes = 0, constants = 0;
  for (const ModelTensor& tensor : model.tensors) {
    if (!tensor.constant) continue;
    constantBytes += tensor.constant->sizeBytes();
    ++constants;
    text += fmt::format("{}{} {} {}{}\n", indent, tensor.defaultOf ? "default " : "constant", printable(tensor.name),
                        tensor.desc.toString(), shortValue(*tensor.constant));
  }
  for (const ModelNode& node : model.nodes) {
    const OpDef* def = registry.find(node.type);
    const std::string params = def ? paramsToJson(def->params, node.params) : "";
    text += fmt::format("{}node     {}{} '{}' ({}) -> {}\n", indent, printable(node.type), params == "{}" ? "" : params,
                        printable(node.name), namesOf(model, node.inputs), namesOf(model, node.outputs));
    for (const Subgraph& subgraph : node.subgraphs) {
      std::vector<TensorId> captured;
      for (int position : subgraph.captures) captured.push_back(node.inputs[static_cast<size_t>(position)]);
      text += fmt::format("{}  subgraph {}, its last inputs are ({})\n", indent, printable(subgraph.name),
                          namesOf(model, captured));
      text += listGraph(subgraph.model, registry, indent + "    ");
    }
  }
  return text +
         fmt::format("{}{} nodes, {} constants of {} bytes\n", indent, model.nodes.size(), constants, constantBytes);
}

}  // namespace

std::string listModel(const Model& model, const OpRegistry& registry) {
  std::string text = fmt::format("producer {}\n", model.producer.empty() ? "-" : printable(model.producer));
  for (const auto& [key, value] : model.metadata)
    text += fmt::format("metadata {} = {}\n", printable(key), printable(value));
  return text + listGraph(model, registry, "");
}

}  // namespace opkit
