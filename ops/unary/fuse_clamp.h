// The shared half of the passes fuse-*-clamp: Relu and Clip after an operator become the clamp of its parameters.
//
// Assume, and leave the activation otherwise:
// - Its bounds are parameters, the minimum not above the maximum and neither NaN (clampOfNode); so are those of a clamp
//   that the operator has already (composed).
// - The result is in floats: a NaN stays a NaN in both (`allowed` of each pass).
// - Nothing else reads the result before the clamp, and it is no output of the model (fuseClamps).
#pragma once

#include "engine/graph/model_edit.h"
#include "engine/op/clamp.h"

namespace opkit::ops::unary {

/// The clamp of a Relu or Clip; nullopt for other operators and for a Clip whose minimum exceeds its maximum.
std::optional<Clamp> clampOfNode(std::string_view type, const ParamBytes& paramBytes);
/// One clamp for first `inner`, then `outer`; nullopt if the shape rules refuse `inner`.
std::optional<Clamp> composed(const Clamp& inner, const Clamp& outer);

/// Fuses every Relu and Clip that is the only reader of a node of `type`, whose parameters `Table` have clamp_low and
/// clamp_high. `allowed` selects the nodes whose kernels can clamp.
template <class Table, class Allowed>
Result<size_t> fuseClamps(Model& model, std::string_view type, Allowed&& allowed) {
  ModelEdit edit(model);
  for (ModelNode& node : model.nodes) {
    const std::optional<Clamp> clamp = edit.isRemoved(node) ? std::nullopt : clampOfNode(node.type, node.params);
    ModelNode* source = clamp ? edit.producer(node.inputs[0], type) : nullptr;
    if (!source || !edit.isOnlyReader(node.inputs[0]) || !node.outputs[0] || !allowed(edit, *source)) continue;
    auto params = unpackParams<Table>(source->params);
    const std::optional<Clamp> both = composed(clampOf(params), *clamp);
    if (!both) continue;
    params.clamp_low = both->low;
    params.clamp_high = both->high;
    source->params = packParams(params);
    edit.remove(node);
    edit.moveOutput(*source, 0, node.outputs[0]);
    edit.count();
  }
  return edit.finish();
}

}  // namespace opkit::ops::unary
