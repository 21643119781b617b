#include "engine/import/onnx/onnx_fields.h"
#include "ops/attention/attention_parts.h"
#include "ops/softmax/softmax_generated.h"

namespace opkit::ops::attention {
namespace {

/// All types compute in f32 or better, so that a lower softmax_precision changes nothing.
Status checkPrecision(const OnnxNode& node) {
  const int64_t type = node.intAttribute("softmax_precision", 1);
  if (type == 1 || type == 10 || type == 11 || type == 16) return Status::ok();
  return Status::invalidArgument("softmax_precision must be a floating type (1, 10, 11 or 16), got {}", type);
}

const OnnxFields<AttentionParamsT>& fields() {
  using Params = AttentionParamsT;
  static const OnnxFields<Params> fields{field("q_num_heads", &Params::q_heads),
                                         field("kv_num_heads", &Params::kv_heads),
                                         field("scale", &Params::scale),
                                         field("softcap", &Params::softcap),
                                         field({"left_window_size", 25}, &Params::left),
                                         field({"right_window_size", 25}, &Params::right)};
  return fields;
}

Status rule(OnnxNode& node) {
  OPKIT_TRY(checkPrecision(node));
  OPKIT_ASSIGN(AttentionParamsT params, readFields(node, fields()));
  if (node.intAttribute("is_causal", 0) != 0) params.right = 0;
  const int64_t mode = node.intAttribute("qk_matmul_output_mode", 0);
  if (mode < 0 || mode > 3) return Status::invalidArgument("qk_matmul_output_mode must be in [0, 3], got {}", mode);
  params.scores = static_cast<Scores>(mode);
  return node.emit("Attention", node.inputs(), packParams(params));
}

Status writeAttention(const AttentionParamsT& params, const OpNode& node, OnnxForm& form) {
  const bool hasMask = node.inputs.size() > 3 && node.inputs[3];
  if (hasMask && node.inputs[3]->dtype != DType::Bool && node.inputs[3]->dtype != node.inputs[0]->dtype)
    return Status::unsupported("a mask that is added must have the type of the query");
  AttentionParamsT rest = params;
  if (params.right == 0) {
    rest.right = -1;
    form.attributes["is_causal"] = int64_t{1};
  }
  if (params.scores != Scores::Product) form.attributes["qk_matmul_output_mode"] = static_cast<int64_t>(params.scores);
  return writeFields(rest, fields(), form);
}

Result<DType> precisionOf(const OnnxNode& node) {
  switch (node.intAttribute("softmax_precision", 1)) {
    case 1: return DType::Float32;
    case 10: return DType::Float16;
    case 11: return DType::Float64;
    default:
      return Status::unsupported("softmax_precision must be 1 (f32), 10 (f16) or 11 (f64), got {}",
                                 node.intAttribute("softmax_precision", 1));
  }
}

/// Applies a subgraph of one input and one output, if the node has it.
Result<TensorId> modified(OnnxNode& node, const std::string& attribute, TensorId x) {
  if (!node.hasAttribute(attribute)) return x;
  OPKIT_ASSIGN(const std::vector<TensorId> outputs, node.inlineGraph(attribute, {x}));
  if (outputs.size() == 1) return outputs[0];
  return Status::invalidArgument("subgraph '{}' must have one output, found {}", attribute, outputs.size());
}

/// FlexAttention: the scores are stored only if a subgraph reads them.
Status flexRule(OnnxNode& node) {
  OPKIT_ASSIGN(const DType precision, precisionOf(node));
  if (!node.hasAttribute("score_mod") && !node.hasAttribute("prob_mod")) {
    FusedAttentionParamsT fused;
    if (node.hasAttribute("scale")) fused.scale = node.floatAttribute("scale", 1);
    return node.emit("FusedAttention", node.inputs(), packParams(fused));
  }
  AttentionScoresParamsT params;
  if (node.hasAttribute("scale")) params.scale = node.floatAttribute("scale", 1);
  if (node.hasAttribute("softmax_precision")) params.to = static_cast<ScoresType>(precision);
  TensorId x = node.emitIntermediate("AttentionScores", {node.input(0), node.input(1)}, packParams(params));
  OPKIT_ASSIGN(x, modified(node, "score_mod", x));
  x = node.emitIntermediate("Softmax", {x}, packParams(softmax::SoftmaxParamsT()));
  OPKIT_ASSIGN(x, modified(node, "prob_mod", x));
  return node.emit("AttentionValues", {x, node.input(2)}, packParams(AttentionValuesParamsT()));
}

}  // namespace

void addOnnx(OnnxRules& rules) {
  std::vector<OnnxAttribute> attributes = attributesOf(fields());
  attributes.insert(attributes.end(), {"is_causal", "qk_matmul_output_mode", "softmax_precision"});
  rules.add("Attention", attributes, {rule, inverseOf<AttentionParamsT>({"Attention"}, writeAttention)}, 23);
  rules.add("ai.onnx.preview::FlexAttention", {"prob_mod", "scale", "score_mod", "softmax_precision"},
            {flexRule,
             inverseOf<FusedAttentionParamsT>({"FusedAttention"}, {field("scale", &FusedAttentionParamsT::scale)})});
  rules.note("Attention", {}, "softmax_precision is f32, f16 or f64");
  rules.note("ai.onnx.preview::FlexAttention", {"FusedAttention", "AttentionScores", "Softmax", "AttentionValues"},
             "softmax_precision is f32, f16 or f64");
}

}  // namespace opkit::ops::attention
