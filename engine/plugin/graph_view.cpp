#include "engine/plugin/graph_view.h"

#include <algorithm>

using namespace opkit;

int32_t opkit_graph::producer(int32_t tensor) const {
  for (size_t n = 0; n < nodes(); ++n)
    if (const ModelNode* one = node(n); one && tensor >= 0 && std::ranges::count(one->outputs, tensor) > 0)
      return static_cast<int32_t>(n);
  return -1;
}

size_t opkit_graph::uses(int32_t tensor) const {
  size_t count = static_cast<size_t>(std::ranges::count(model_.outputs, tensor));
  for (size_t n = 0; n < nodes(); ++n)
    if (const ModelNode* one = node(n)) count += static_cast<size_t>(std::ranges::count(one->inputs, tensor));
  return tensor < 0 ? 0 : count;
}

bool opkit_graph::isOutput(int32_t tensor) const { return std::ranges::count(model_.outputs, tensor) > 0; }

const char* opkit_graph::attributesJson(size_t index) const {
  const ModelNode* one = node(index);
  const OpDef* def = one ? registry_.find(one->type) : nullptr;
  json_ = def ? paramsToJson(def->params, one->params) : "{}";
  return json_.c_str();
}

opkit_code opkit_graph::refuse(std::string message) {
  if (mistake_.empty()) mistake_ = message.empty() ? "no memory" : std::move(message);
  return OPKIT_INVALID_ARGUMENT;
}

opkit_code opkit_graph::replace(int32_t from, int32_t to) {
  if (!isTensor(from) || !isTensor(to))
    return refuse(fmt::format("graph_replace: there are no tensors {} and {}", from, to));
  if (isOutput(from))
    return refuse(fmt::format("graph_replace: tensor '{}' is an output of the model",
                              model_.tensors[static_cast<size_t>(from)].name));
  for (size_t n = 0; n < nodes(); ++n)
    if (!removed_[n]) std::ranges::replace(model_.nodes[n].inputs, from, to);
  return OPKIT_OK;
}

opkit_code opkit_graph::remove(size_t index) {
  const ModelNode* one = node(index);
  if (!one) return refuse(fmt::format("graph_remove: there is no node {}", index));
  for (int output : one->outputs)
    if (uses(output) > 0)
      return refuse(fmt::format("graph_remove: output '{}' of node '{}' is still used",
                                model_.tensors[static_cast<size_t>(output)].name, one->name));
  removed_[index] = true;
  return OPKIT_OK;
}

opkit_code opkit_graph::retype(size_t index, const char* type, const char* attributes) {
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
  size_t next = 0;
  std::erase_if(model_.nodes, [&](const ModelNode&) { return removed_[next++]; });
  removed_.assign(model_.nodes.size(), false);
  if (!mistake_.empty()) return Status::invalidArgument("{}", mistake_);
  return validateModel(model_, registry_);
}
