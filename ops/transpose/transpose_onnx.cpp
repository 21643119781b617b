#include "engine/import/onnx/onnx_rules.h"
#include "ops/text/over_strings.h"
#include "ops/transpose/transpose_generated.h"

namespace opkit::ops::transpose {
namespace {

Status rule(OnnxNode& node) {
  TransposeParamsT params;
  for (const int64_t axis : node.intsAttribute("perm")) params.perm.push_back(static_cast<int>(axis));
  return node.emit("Transpose", node.inputs(), packParams(params));
}

}  // namespace

void addOnnx(OnnxRules& rules) { rules.add("Transpose", {"perm"}, text::overStrings(rule)); }

}  // namespace opkit::ops::transpose
