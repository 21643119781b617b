#include "engine/graph/content_plan.h"

namespace opkit {
namespace {

bool anyNeeded(const ModelNode& node, const IndexedVector<TensorId, bool>& needed) {
  for (const TensorId output : node.outputs)
    if (output && needed[output]) return true;
  return false;
}

}  // namespace

ContentPlan planContents(const Model& model, const OpRegistry& registry) {
  ContentPlan plan;
  plan.needed.assign(model.tensors.size(), false);
  for (auto node = model.nodes.rbegin(); node != model.nodes.rend(); ++node) {
    const OpDef* def = registry.find(node->type);
    OPKIT_CHECK(def != nullptr);
    const bool computedAtResize = anyNeeded(*node, plan.needed) && !def->shapeOnly;
    for (size_t i = 0; i < node->inputs.size(); ++i) {
      if (!node->inputs[i]) continue;
      const Port* port = portOf(def->inputs, i);
      if (computedAtResize || (port && port->contents)) plan.needed[node->inputs[i]] = true;
    }
  }
  for (size_t i = 0; i < model.inputs.size(); ++i)
    if (plan.needed[model.inputs[i]]) plan.inputs.push_back(i);
  return plan;
}

}  // namespace opkit
