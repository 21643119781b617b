// remove-dead-code: nodes whose outputs nobody reads, and constants nobody reads.
//
// Assumes:
// - A run of a node has no effect but its outputs.
// - Readers are nodes, outputs of the model, and subgraphs, whose captures are inputs of their node (ModelEdit).
// - A node stays whole if one of its outputs is read (removeDeadCode).
// - Nodes come after what they read (validateModel), so one sweep from the end is enough.
#include "engine/graph/model_edit.h"
#include "engine/graph/passes/engine_passes.h"

namespace opkit {
namespace {

Result<size_t> removeDeadCode(Model& model, const OpRegistry&) {
  ModelEdit edit(model);
  for (auto each = model.nodes.rbegin(); each != model.nodes.rend(); ++each) {  // readers before what they read
    ModelNode& node = *each;
    const bool read = std::any_of(node.outputs.begin(), node.outputs.end(),
                                  [&](TensorId output) { return output && edit.readerCount(output) > 0; });
    if (read) continue;
    edit.remove(node);
    edit.count();
  }
  return edit.finish();
}

}  // namespace

GraphPass removeDeadCodePass() {
  return {"remove-dead-code", "nodes whose outputs nobody reads, and constants nobody reads",
          GraphPass::Position::BeforeLowering, removeDeadCode, nullptr};
}

}  // namespace opkit
