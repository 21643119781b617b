#include "engine/import/onnx/onnx_rules.h"
#include "ops/arg_reduce/arg_reduce_generated.h"

namespace opkit::ops::arg_reduce {
namespace {

Status rule(OnnxNode& node) {
  ArgReduceParamsT params;
  params.axis = static_cast<int>(node.intAttribute("axis", 0));
  params.keep_dims = node.intAttribute("keepdims", 1) != 0;
  params.select_last_index = node.intAttribute("select_last_index", 0) != 0;
  return node.emit(node.opType(), node.inputs(), packParams(params));
}

}  // namespace

void addOnnx(OnnxRules& rules) {
  for (const char* type : {"ArgMax", "ArgMin"}) rules.add(type, {"axis", "keepdims", {"select_last_index", 12}}, rule);
}

}  // namespace opkit::ops::arg_reduce
