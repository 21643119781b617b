#include "engine/plugin/graph_view.h"

using namespace opkit;

NodeId opkit_graph::producer(TensorId tensor) const {
  const ModelNode* one = model_.tensors.contains(tensor) ? edit_.producer(tensor) : nullptr;
  return one ? model_.nodes.idOf(*one) : NodeId();
}

const char* opkit_graph::attributesJson(NodeId index) const {
  const ModelNode* one = node(index);
  const OpDef* def = one ? registry_.find(one->type) : nullptr;
  json_ = def ? paramsToJson(def->params, one->params) : "{}";
  return json_.c_str();
}

opkit_code opkit_graph::refuse(std::string message) {
  if (mistake_.empty()) mistake_ = message.empty() ? "no memory" : std::move(message);
  return OPKIT_INVALID_ARGUMENT;
}

opkit_code opkit_graph::replace(TensorId from, TensorId to) {
  if (!model_.tensors.contains(from) || !model_.tensors.contains(to))
    return refuse(fmt::format("graph_replace: there are no tensors {} and {}", from, to));
  if (isOutput(from))
    return refuse(fmt::format("graph_replace: tensor '{}' is an output of the model", model_.tensors[from].name));
  edit_.replaceReaders(from, to);
  return OPKIT_OK;
}

opkit_code opkit_graph::remove(NodeId index) {
  const ModelNode* one = node(index);
  if (!one) return refuse(fmt::format("graph_remove: there is no node {}", index));
  for (const TensorId output : one->outputs)
    if (uses(output) > 0)
      return refuse(
          fmt::format("graph_remove: output '{}' of node '{}' is still used", model_.tensors[output].name, one->name));
  edit_.remove(model_.nodes[index]);
  return OPKIT_OK;
}

opkit_code opkit_graph::retype(NodeId index, const char* type, const char* attributes) {
  if (!node(index)) return refuse(fmt::format("graph_retype: there is no node {}", index));
  const OpDef* def = type ? registry_.find(type) : nullptr;
  if (!def) return refuse(fmt::format("graph_retype: there is no operator '{}'", type ? type : ""));
  auto params = paramsFromJson(def->params, attributes ? attributes : "{}");
  if (!params) return refuse(fmt::format("graph_retype: {}", params.error().message()));
  ModelNode& one = model_.nodes[index];
  one.type = def->type;
  one.version = def->version;
  one.params = *std::move(params);
  return OPKIT_OK;
}

opkit::Status opkit_graph::finish() {
  if (!mistake_.empty()) return Status::invalidArgument("{}", mistake_);
  OPKIT_TRY(edit_.finish().error());
  return validateModel(model_, registry_);
}
