#include "engine/import/onnx/onnx_rules.h"
#include "ops/gather/gather_generated.h"
#include "ops/gather/gather_nd_generated.h"
#include "ops/text/over_strings.h"

namespace opkit::ops::gather {
namespace {

Status rule(OnnxNode& node) {
  GatherParamsT params;
  params.axis = static_cast<int>(node.intAttribute("axis", 0));
  return node.emit(node.opType(), node.inputs(), packParams(params));
}

Status ndRule(OnnxNode& node) {
  GatherNdParamsT params;
  params.batch_dims = static_cast<int>(node.intAttribute("batch_dims", 0));
  return node.emit("GatherND", node.inputs(), packParams(params));
}

}  // namespace

void addOnnx(OnnxRules& rules) {
  rules.add("Gather", {"axis"}, text::overStrings(rule));
  rules.add("GatherElements", {"axis"}, text::overStrings(rule));
  rules.add("GatherND", {{"batch_dims", 12}}, text::overStrings(ndRule));
}

}  // namespace opkit::ops::gather
