// join-equal-nodes: of nodes of one type with equal inputs and parameters, one is kept and the others' readers read it.
//
// Assumes, and leaves the nodes otherwise:
// - Type, version, inputs and parameters settle the results, also of random operators, whose stream is a parameter.
//   Parameters are equal byte by byte: 0 is not -0, a NaN is a NaN of the same bits (Computation).
// - Where the card's last output is variadic, their number counts too: Split has as many parts (outputsThatCount).
// - Subgraphs are not compared: no node of control flow is joined (joinEqualNodes).
// - The kept node makes every output that the other makes, and none of those is an output of the model (canJoin).
#include <map>
#include <tuple>

#include "engine/graph/model_edit.h"
#include "engine/graph/passes/engine_passes.h"
#include "engine/op/op_registry.h"

namespace opkit {
namespace {

/// Type, version, inputs, parameters and the outputs that count: the results of a node depend on nothing else.
using Computation = std::tuple<std::string, int, std::vector<TensorId>, ParamBytes, size_t>;

/// The number of outputs if results depend on it, else 0.
size_t outputsThatCount(const ModelNode& node, const OpRegistry& registry) {
  const std::vector<Port>& ports = registry.find(node.type)->outputs;
  return !ports.empty() && ports.back().kind == Port::Kind::Variadic ? node.outputs.size() : 0;
}

/// Whether readers of `node` can read `first` instead. Outputs of the model keep their names.
bool canJoin(const ModelEdit& edit, const ModelNode& first, const ModelNode& node) {
  if (first.outputs.size() < node.outputs.size()) return false;
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    const TensorId output = node.outputs[i];
    if (output && (!first.outputs[i] || edit.isOutput(output))) return false;
  }
  return true;
}

Result<size_t> joinEqualNodes(Model& model, const OpRegistry& registry) {
  ModelEdit edit(model);
  std::map<Computation, const ModelNode*> firsts;
  for (ModelNode& node : model.nodes) {  // what a node reads is joined before the node
    if (!node.subgraphs.empty()) continue;
    const auto [entry, isFirst] = firsts.try_emplace(
        {node.type, node.version, node.inputs, node.params, outputsThatCount(node, registry)}, &node);
    if (isFirst || !canJoin(edit, *entry->second, node)) continue;
    for (size_t i = 0; i < node.outputs.size(); ++i)
      if (node.outputs[i]) edit.replaceReaders(node.outputs[i], entry->second->outputs[i]);
    edit.remove(node);
    edit.count();
  }
  return edit.finish();
}

}  // namespace

GraphPass joinEqualNodesPass() {
  return {"join-equal-nodes", "nodes of one type, with equal inputs and parameters, are one node",
          GraphPass::Position::BeforeLowering, joinEqualNodes, nullptr};
}

}  // namespace opkit
