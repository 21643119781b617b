#include "engine/import/onnx/onnx_rules.h"
#include "ops/max_unpool/max_unpool_parts.h"

namespace opkit::ops::max_unpool {
namespace {

Status rule(OnnxNode& node) {
  MaxUnpoolParamsT params;
  params.kernel_shape = node.intsAttribute("kernel_shape");
  params.strides = node.intsAttribute("strides");
  params.pads = node.intsAttribute("pads");
  return node.emit("MaxUnpool", node.inputs(), packParams(params));
}

}  // namespace

void addOnnx(OnnxRules& rules) { rules.add("MaxUnpool", {required("kernel_shape"), "pads", "strides"}, rule, 9); }

}  // namespace opkit::ops::max_unpool
