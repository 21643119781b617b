#include "engine/import/onnx/onnx_rules.h"
#include "ops/sequence/join_generated.h"
#include "ops/sequence/sequence_generated.h"

namespace opkit::ops::sequence {
namespace {

Status split(OnnxNode& node) {
  SplitToSequenceParamsT params;
  params.axis = node.intAttribute("axis", 0);
  params.keep_dims = node.intAttribute("keepdims", 1) != 0;
  return node.emit("SplitToSequence", node.inputs(), packParams(params));
}

Status concat(OnnxNode& node) {
  ConcatFromSequenceParamsT params;
  OPKIT_ASSIGN(params.axis, requiredInt(node, "axis"));
  params.new_axis = node.intAttribute("new_axis", 0) != 0;
  return node.emit("ConcatFromSequence", node.inputs(), packParams(params));
}

}  // namespace

void addOnnx(OnnxRules& rules) {
  for (const char* type : {"SequenceConstruct", "SequenceInsert", "SequenceErase", "SequenceAt", "SequenceLength"})
    rules.add(type, {}, passThrough(type), 11);
  rules.add("SequenceEmpty", {"dtype"}, passThrough("SequenceEmpty"), 11);
  rules.add("Optional", {"type"}, passThrough("Optional"), 15);
  for (const char* type : {"OptionalHasElement", "OptionalGetElement"}) rules.add(type, {}, passThrough(type), 15);
  rules.add("SplitToSequence", {"axis", "keepdims"}, split, 11);
  rules.add("ConcatFromSequence", {"axis", "new_axis"}, concat, 11);
  rules.add(
      "SequenceMap", {"body"}, [](OnnxNode& node) { return node.emitControl("SequenceMap", node.inputs(), {"body"}); },
      17);
}

}  // namespace opkit::ops::sequence
