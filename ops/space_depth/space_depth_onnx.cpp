#include "engine/import/onnx/onnx_rules.h"
#include "ops/space_depth/space_depth_generated.h"
#include "ops/text/over_strings.h"

namespace opkit::ops::space_depth {
namespace {

Status rule(OnnxNode& node) {
  SpaceDepthParamsT params;
  params.block = static_cast<int>(node.intAttribute("blocksize", 0));
  OPKIT_ASSIGN(params.order,
               choiceAttribute<Order>(node, "mode", {{"DCR", Order::DepthColumnRow}, {"CRD", Order::ColumnRowDepth}}));
  return node.emit(node.opType(), node.inputs(), packParams(params));
}

}  // namespace

void addOnnx(OnnxRules& rules) {
  rules.add("DepthToSpace", {required("blocksize"), {"mode", 11}}, text::overStrings(rule));
  rules.add("SpaceToDepth", {required("blocksize")}, text::overStrings(rule));
}

}  // namespace opkit::ops::space_depth
