#include "engine/import/onnx/onnx_fields.h"
#include "ops/nll_loss/nll_loss_generated.h"

namespace opkit::ops::nll_loss {
namespace {

using Params = NllLossParamsT;

const OnnxFields<Params>& fields() {
  static const OnnxFields<Params> fields{
      choice("reduction", &Params::reduction,
             {{"mean", LossReduction::Mean}, {"none", LossReduction::None}, {"sum", LossReduction::Sum}}),
      field("ignore_index", &Params::ignore_index)};
  return fields;
}

Status rule(OnnxNode& node) {
  OPKIT_ASSIGN(Params params, readFields(node, fields()));
  params.has_ignore_index = node.hasAttribute("ignore_index");
  return node.emit(node.opType(), node.inputs(), packParams(params));
}

Status write(const Params& params, const OpNode&, OnnxForm& form) {
  OPKIT_TRY(writeFields(params, fields(), form));
  if (params.has_ignore_index) form.attributes["ignore_index"] = int64_t{params.ignore_index};
  return Status::ok();
}

}  // namespace

void addOnnx(OnnxRules& rules) {
  for (const char* type : {"NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss"})
    rules.add(type, attributesOf(fields()), {rule, inverseOf<Params>({type}, write)}, 12);
}

}  // namespace opkit::ops::nll_loss
