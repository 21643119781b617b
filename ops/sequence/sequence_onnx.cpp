#include "engine/import/onnx/onnx_fields.h"
#include "ops/sequence/join_generated.h"
#include "ops/sequence/sequence_generated.h"

namespace opkit::ops::sequence {

void addOnnx(OnnxRules& rules) {
  using Split = SplitToSequenceParamsT;
  using Join = ConcatFromSequenceParamsT;
  for (const char* type : {"SequenceConstruct", "SequenceInsert", "SequenceErase", "SequenceAt", "SequenceLength"})
    rules.add(type, {}, passThrough(type), 11);
  rules.add("SequenceEmpty", {"dtype"}, passThrough("SequenceEmpty"), 11);
  rules.add("Optional", {"type"}, passThrough("Optional"), 15);
  for (const char* type : {"OptionalHasElement", "OptionalGetElement"}) rules.add(type, {}, passThrough(type), 15);
  rules.add("SplitToSequence",
            nodeOf<Split>("SplitToSequence", {field("axis", &Split::axis), field("keepdims", &Split::keep_dims)}), 11);
  rules.add(
      "ConcatFromSequence",
      nodeOf<Join>("ConcatFromSequence", {field(required("axis"), &Join::axis), field("new_axis", &Join::new_axis)}),
      11);
  rules.add(
      "SequenceMap", {"body"}, [](OnnxNode& node) { return node.emitControl("SequenceMap", node.inputs(), {"body"}); },
      17);
}

}  // namespace opkit::ops::sequence
