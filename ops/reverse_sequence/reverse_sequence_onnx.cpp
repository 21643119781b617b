#include "engine/import/onnx/onnx_rules.h"
#include "ops/reverse_sequence/reverse_sequence_parts.h"
#include "ops/text/over_strings.h"

namespace opkit::ops::reverse_sequence {
namespace {

Status rule(OnnxNode& node) {
  ReverseSequenceParamsT params;
  params.batch_axis = static_cast<int>(node.intAttribute("batch_axis", 1));
  params.time_axis = static_cast<int>(node.intAttribute("time_axis", 0));
  return node.emit("ReverseSequence", node.inputs(), packParams(params));
}

}  // namespace

void addOnnx(OnnxRules& rules) {
  rules.add("ReverseSequence", {"batch_axis", "time_axis"}, text::overStrings(rule), 10);
}

}  // namespace opkit::ops::reverse_sequence
