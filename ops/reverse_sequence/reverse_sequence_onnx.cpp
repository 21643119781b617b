#include "engine/import/onnx/onnx_fields.h"
#include "ops/reverse_sequence/reverse_sequence_parts.h"
#include "ops/text/over_strings.h"

namespace opkit::ops::reverse_sequence {

void addOnnx(OnnxRules& rules) {
  using Params = ReverseSequenceParamsT;
  rules.add("ReverseSequence",
            text::overStrings(nodeOf<Params>(
                "ReverseSequence", {field("batch_axis", &Params::batch_axis), field("time_axis", &Params::time_axis)})),
            10);
}

}  // namespace opkit::ops::reverse_sequence
