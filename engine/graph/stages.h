// Stages: a model cut into models that can be planned, to be run one after the other.
//
// A control-flow node (OpDef::control) decides at run what is executed, and often the shapes of its outputs. So
// everything that can run before it is one stage, the node itself runs on the host, and the nodes that need its outputs
// form a later stage, planned once those outputs are known. Shapes may also depend on computed values (the number of
// boxes that NonMaxSuppression keeps): the node that needs them belongs to a later stage than the node that computes
// them. A node that reads only constants belongs to each stage that reads it, where it is folded. Other models are
// never cut.
#pragma once

#include <vector>

#include "engine/model/model.h"
#include "engine/op/op_registry.h"

namespace opkit {

struct Stage {
  Model model;                   // the plain nodes; without outputs when there is nothing to run
  std::vector<TensorId> inputs;  // per input of `model`, the tensor of the whole model
  std::vector<TensorId> outputs;
  std::vector<NodeId> control;  // nodes of the whole model to run after it, in order
};

/// True if the model has control flow, or shapes that depend on values of a run. REQUIRES a valid model.
bool needsStages(const Model& model, const OpRegistry& registry);
/// REQUIRES a valid model. Constants are shared with it.
std::vector<Stage> splitIntoStages(const Model& model, const OpRegistry& registry);

}  // namespace opkit
