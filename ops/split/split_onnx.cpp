#include "engine/import/onnx/onnx_fields.h"
#include "ops/com_microsoft/rule_parts.h"
#include "ops/split/split_generated.h"
#include "ops/text/over_strings.h"

namespace opkit::ops::split {
namespace {

Status rule(OnnxNode& node) {
  OPKIT_ASSIGN(const SplitParamsT params, readFields<SplitParamsT>(node, {field("axis", &SplitParamsT::axis)}));
  std::vector<TensorId> inputs = node.inputs();
  if (node.opset() == 1 && node.input(1))  // the lengths had the type of x
    inputs[1] = com_microsoft::RuleParts(node).cast(node.input(1), cast::ElementType::i64);
  if (node.hasAttribute("split")) inputs = {node.input(0), node.addConstant("split", node.intsAttribute("split"))};
  if (node.intAttribute("num_outputs", static_cast<int64_t>(node.outputCount())) !=
      static_cast<int64_t>(node.outputCount()))
    return Status::invalidArgument("Split: num_outputs must be {}, the number of outputs, got {}", node.outputCount(),
                                   node.intAttribute("num_outputs", 0));
  return node.emit("Split", std::move(inputs), packParams(params));
}

Status write(const SplitParamsT& params, const OpNode& node, OnnxForm& form) {
  const bool hasLengths = node.inputs.size() > 1 && node.inputs[1];
  if (form.opset < 13 && hasLengths)
    return Status::unsupported("before opset 13 the lengths of Split are an attribute");
  if (form.opset >= 18 && !hasLengths) form.attributes["num_outputs"] = static_cast<int64_t>(node.outputs);
  return writeFields<SplitParamsT>(params, {field("axis", &SplitParamsT::axis)}, form);
}

}  // namespace

void addOnnx(OnnxRules& rules) {
  const OnnxRule split = text::overStrings({rule, inverseOf<SplitParamsT>({"Split"}, write)});
  rules.add("Split", {"axis", "split"}, split, 1, 12);
  rules.add("Split", {"axis", {"num_outputs", 18}}, split, 13);
}

}  // namespace opkit::ops::split
