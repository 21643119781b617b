// The optimizers of ai.onnx.preview.training take any number of tensors: each becomes a node of its own.
#include "engine/import/onnx/onnx_rules.h"
#include "ops/optimizer/optimizer_parts.h"

namespace opkit::ops::optimizer {
namespace {

/// Inputs are r, t and `lists` lists as long as each other: the tensors, their gradients, their states. Outputs are the
/// lists without the gradients.
Status steps(OnnxNode& node, const char* type, size_t lists, const OptimizerParamsT& params) {
  const size_t given = node.inputCount() < 2 ? 0 : node.inputCount() - 2, tensors = given / lists;
  if (tensors == 0 || given % lists != 0)
    return Status::invalidArgument("{}: needs r, t and {} inputs per tensor, got {} inputs", type, lists,
                                   node.inputCount());
  for (size_t k = 0; k < tensors; ++k) {
    std::vector<int> inputs{node.input(0), node.input(1)};
    for (size_t list = 0; list < lists; ++list) inputs.push_back(node.input(2 + list * tensors + k));
    const std::vector<int> made = node.emitIntermediates(type, inputs, lists - 1, packParams(params));
    for (size_t list = 0; list + 1 < lists; ++list)
      OPKIT_TRY(node.emitOutput(list * tensors + k, "Identity", {made[list]}));
  }
  return Status::ok();
}

OptimizerParamsT commonParams(const OnnxNode& node) {
  OptimizerParamsT params;
  params.alpha = node.floatAttribute("alpha", 0.9f);
  params.beta = node.floatAttribute("beta", 0.999f);
  params.epsilon = node.floatAttribute("epsilon", 1e-6f);
  params.norm_coefficient = node.floatAttribute("norm_coefficient", 0);
  params.norm_coefficient_post = node.floatAttribute("norm_coefficient_post", 0);
  params.decay_factor = node.floatAttribute("decay_factor", 0);
  return params;
}

Status adagrad(OnnxNode& node) { return steps(node, "Adagrad", 3, commonParams(node)); }
Status adam(OnnxNode& node) { return steps(node, "Adam", 4, commonParams(node)); }

Status momentum(OnnxNode& node) {
  OptimizerParamsT params = commonParams(node);
  OPKIT_ASSIGN(params.nesterov, choiceAttribute<bool>(node, "mode", {{"standard", false}, {"nesterov", true}}));
  return steps(node, "Momentum", 3, params);
}

Status gradient(OnnxNode&) {
  return Status::unsupported("Gradient: OpKit does not differentiate; export the model with its gradients as nodes");
}

}  // namespace

void addOnnx(OnnxRules& rules) {
  const std::string domain = "ai.onnx.preview.training::";
  rules.add(domain + "Adagrad", {"decay_factor", "epsilon", "norm_coefficient"}, adagrad);
  rules.add(domain + "Adam", {"alpha", "beta", "epsilon", "norm_coefficient", "norm_coefficient_post"}, adam);
  rules.add(domain + "Gradient", {"xs", "y", "zs"}, gradient);
  rules.add(domain + "Momentum", {required("alpha"), required("beta"), required("mode"), required("norm_coefficient")},
            momentum);
  rules.note(domain + "Adagrad", {"Adagrad"});
  rules.note(domain + "Adam", {"Adam"});
  rules.note(domain + "Momentum", {"Momentum"});
  rules.note(domain + "Gradient", {}, "refused: OpKit does not differentiate");
}

}  // namespace opkit::ops::optimizer
