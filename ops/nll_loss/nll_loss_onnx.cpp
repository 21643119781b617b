#include "engine/import/onnx/onnx_rules.h"
#include "ops/nll_loss/nll_loss_generated.h"

namespace opkit::ops::nll_loss {
namespace {

Status rule(OnnxNode& node) {
  NllLossParamsT params;
  OPKIT_ASSIGN(params.reduction,
               choiceAttribute<LossReduction>(
                   node, "reduction",
                   {{"mean", LossReduction::Mean}, {"none", LossReduction::None}, {"sum", LossReduction::Sum}}));
  params.has_ignore_index = node.hasAttribute("ignore_index");
  params.ignore_index = node.intAttribute("ignore_index", 0);
  return node.emit(node.opType(), node.inputs(), packParams(params));
}

}  // namespace

void addOnnx(OnnxRules& rules) {
  rules.add("NegativeLogLikelihoodLoss", {"ignore_index", "reduction"}, rule, 12);
  rules.add("SoftmaxCrossEntropyLoss", {"ignore_index", "reduction"}, rule, 12);
}

}  // namespace opkit::ops::nll_loss
