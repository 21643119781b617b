// The optimizers of ai.onnx.preview.training take any number of tensors: each becomes a node of its own.
#include "engine/import/onnx/onnx_fields.h"
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
  if (tensors == 1) return node.emit(type, node.inputs(), packParams(params));
  for (size_t k = 0; k < tensors; ++k) {
    std::vector<TensorId> inputs{node.input(0), node.input(1)};
    for (size_t list = 0; list < lists; ++list) inputs.push_back(node.input(2 + list * tensors + k));
    const std::vector<TensorId> made = node.emitIntermediates(type, inputs, lists - 1, packParams(params));
    for (size_t list = 0; list + 1 < lists; ++list)
      OPKIT_TRY(node.emitOutput(list * tensors + k, "Identity", {made[list]}));
  }
  return Status::ok();
}

using Params = OptimizerParamsT;

/// Rules of an optimizer with so many lists.
OnnxDeclaration stepsOf(const char* type, size_t lists, const OnnxFields<Params>& fields) {
  const auto read = [=](OnnxNode& node) -> Status {
    OPKIT_ASSIGN(const Params params, readFields(node, fields));
    return steps(node, type, lists, params);
  };
  return {attributesOf(fields), {read, inverseOf({type}, fields)}};
}

Status gradient(OnnxNode&) {
  return Status::unsupported("Gradient: OpKit does not differentiate; export the model with its gradients as nodes");
}

}  // namespace

void addOnnx(OnnxRules& rules) {
  const std::string domain = "ai.onnx.preview.training::";
  const OnnxField<Params> epsilon = field("epsilon", &Params::epsilon, 1e-6f),
                          norm = field("norm_coefficient", &Params::norm_coefficient);
  rules.add(domain + "Adagrad", stepsOf("Adagrad", 3, {field("decay_factor", &Params::decay_factor), epsilon, norm}));
  rules.add(domain + "Adam", stepsOf("Adam", 4,
                                     {field("alpha", &Params::alpha), field("beta", &Params::beta), epsilon, norm,
                                      field("norm_coefficient_post", &Params::norm_coefficient_post)}));
  rules.add(domain + "Momentum",
            stepsOf("Momentum", 3,
                    {field(required("alpha"), &Params::alpha), field(required("beta"), &Params::beta),
                     field(required("norm_coefficient"), &Params::norm_coefficient),
                     choice(required("mode"), &Params::nesterov, {{"standard", false}, {"nesterov", true}})}));
  rules.add(domain + "Gradient", {"xs", "y", "zs"}, gradient);
  rules.note(domain + "Adagrad", {"Adagrad"});
  rules.note(domain + "Adam", {"Adam"});
  rules.note(domain + "Momentum", {"Momentum"});
  rules.note(domain + "Gradient", {}, "refused: OpKit does not differentiate");
}

}  // namespace opkit::ops::optimizer
