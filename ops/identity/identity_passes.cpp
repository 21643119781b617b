// remove-identities: removes Identity, and Dropout with an unread mask.
//
// Assumes, and leaves the node otherwise:
// - Dropout is that of inference (training has nodes of its own, ops/random); `kept` is a constant of one element, as
//   the shape rule wants it; nobody reads the mask (isIdentity).
// - One of the two names may vanish: a copy from an input, a constant or an output of the model to an output stays, and
//   so does one from control flow to an output (bypass).
#include "engine/graph/model_edit.h"
#include "engine/graph/pass.h"
#include "engine/op/op_registry.h"

namespace opkit::ops::identity {
namespace {

bool isIdentity(const ModelEdit& edit, const ModelNode& node) {
  if (node.type == "Identity") return true;
  if (node.type != "Dropout") return false;
  const Tensor* kept = edit.constant(node.inputs[1]);
  const bool maskRead = node.outputs.size() > 1 && node.outputs[1] && edit.readerCount(node.outputs[1]) > 0;
  return !maskRead && kept && kept->desc.elements() == 1;
}

/// Replaces the node by its source; false if the copy is needed because both names must be kept.
bool bypass(ModelEdit& edit, ModelNode& node) {
  const TensorId from = node.inputs[0], to = node.outputs[0];
  if (!to) return false;
  if (!edit.isOutput(to)) {
    edit.replaceReaders(to, from);
    edit.remove(node);
    return true;
  }
  ModelNode* source = edit.producer(from);
  if (!source || edit.isOutput(from) || !source->subgraphs.empty()) return false;
  edit.remove(node);
  for (size_t i = 0; i < source->outputs.size(); ++i)
    if (source->outputs[i] == from) edit.moveOutput(*source, i, to);
  edit.replaceReaders(from, to);
  return true;
}

Result<size_t> removeIdentities(Model& model, const OpRegistry&) {
  ModelEdit edit(model);
  for (ModelNode& node : model.nodes)
    if (isIdentity(edit, node) && bypass(edit, node)) edit.count();
  return edit.finish();
}

}  // namespace

void addPasses(OpRegistry& registry) {
  registry.addPass({"remove-identities", "Identity, and Dropout whose mask nobody reads",
                    GraphPass::Position::BeforeLowering, removeIdentities, nullptr});
}

}  // namespace opkit::ops::identity
