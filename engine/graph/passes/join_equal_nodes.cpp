#include <map>
#include <tuple>

#include "engine/graph/model_edit.h"
#include "engine/graph/passes/engine_passes.h"

namespace opkit {
namespace {

/// Type, version, inputs and parameters: the results of a node depend on nothing else, also those of random operators.
using Computation = std::tuple<std::string, int, std::vector<int>, ParamBytes>;

/// Whether readers of `node` can read `first` instead. Outputs of the model keep their names.
bool canJoin(const ModelEdit& edit, const ModelNode& first, const ModelNode& node) {
  if (first.outputs.size() < node.outputs.size()) return false;
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    const int output = node.outputs[i];
    if (output >= 0 && (first.outputs[i] < 0 || edit.isOutput(output))) return false;
  }
  return true;
}

Result<size_t> joinEqualNodes(Model& model, const OpRegistry&) {
  ModelEdit edit(model);
  std::map<Computation, const ModelNode*> firsts;
  for (ModelNode& node : model.nodes) {  // what a node reads is joined before the node
    if (!node.subgraphs.empty()) continue;
    const auto [entry, isFirst] = firsts.try_emplace({node.type, node.version, node.inputs, node.params}, &node);
    if (isFirst || !canJoin(edit, *entry->second, node)) continue;
    for (size_t i = 0; i < node.outputs.size(); ++i)
      if (node.outputs[i] >= 0) edit.replaceReaders(node.outputs[i], entry->second->outputs[i]);
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
