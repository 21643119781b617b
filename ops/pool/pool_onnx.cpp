#include "engine/import/onnx/onnx_rules.h"
#include "engine/op/window.h"
#include "ops/pool/pool_generated.h"

namespace opkit::ops::pool {
namespace {

Status rule(OnnxNode& node) {
  PoolParamsT params;
  OPKIT_ASSIGN(const opkit::AutoPad autoPad, parseAutoPad(node.stringAttribute("auto_pad", "NOTSET")));
  params.auto_pad = static_cast<pool::AutoPad>(autoPad);
  params.kernel_shape = node.intsAttribute("kernel_shape");
  params.strides = node.intsAttribute("strides");
  params.dilations = node.intsAttribute("dilations");
  if (autoPad == opkit::AutoPad::NotSet) params.pads = node.intsAttribute("pads");
  params.ceil_mode = node.intAttribute("ceil_mode", 0) != 0;
  params.count_include_pad = node.intAttribute("count_include_pad", 0) != 0;
  params.column_major = node.intAttribute("storage_order", 0) != 0;
  return node.emit(node.opType(), node.inputs(), packParams(params));
}

}  // namespace

void addOnnx(OnnxRules& rules) {
  rules.add("MaxPool", {"auto_pad", "ceil_mode", "dilations", "kernel_shape", "pads", "storage_order", "strides"},
            rule);
  rules.add("AveragePool",
            {"auto_pad", "ceil_mode", "count_include_pad", "dilations", "kernel_shape", "pads", "strides"}, rule);
  rules.add("GlobalMaxPool", {}, passThrough("GlobalMaxPool"));
  rules.add("GlobalAveragePool", {}, passThrough("GlobalAveragePool"));
}

}  // namespace opkit::ops::pool
