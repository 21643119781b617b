#include "ops/pool/pool_onnx.h"

#include "engine/op/window.h"
#include "ops/pool/global_lp_pool_generated.h"
#include "ops/pool/pool_generated.h"

namespace opkit::ops::pool {
namespace {

/// The power of LpPool and its global form: a float in opset 1, whole since.
float powerOf(const OnnxNode& node) {
  return node.opset() < 2 ? node.floatAttribute("p", 2) : static_cast<float>(node.intAttribute("p", 2));
}

Status globalNormRule(OnnxNode& node) {
  GlobalLpPoolParamsT params;
  params.p = powerOf(node);
  return node.emit("GlobalLpPool", node.inputs(), packParams(params));
}

PoolParamsT paramsOf(const OnnxNode& node, opkit::AutoPad autoPad) {
  PoolParamsT params;
  params.auto_pad = static_cast<pool::AutoPad>(autoPad);
  params.kernel_shape = node.intsAttribute("kernel_shape");
  params.strides = node.intsAttribute("strides");
  params.dilations = node.intsAttribute("dilations");
  if (autoPad == opkit::AutoPad::NotSet) params.pads = node.intsAttribute("pads");
  params.ceil_mode = node.intAttribute("ceil_mode", 0) != 0;
  params.count_include_pad = node.intAttribute("count_include_pad", 0) != 0;
  params.column_major = node.intAttribute("storage_order", 0) != 0;
  return params;
}

Status rule(OnnxNode& node) {
  OPKIT_ASSIGN(const opkit::AutoPad autoPad, parseAutoPad(node.stringAttribute("auto_pad", "NOTSET")));
  PoolParamsT params = paramsOf(node, autoPad);
  if (node.opType() == "LpPool") params.p = powerOf(node);
  return node.emit(node.opType(), node.inputs(), packParams(params));
}

}  // namespace

Result<ParamBytes> poolParams(const OnnxNode& node) {
  OPKIT_ASSIGN(const opkit::AutoPad autoPad, parseAutoPad(node.stringAttribute("auto_pad", "NOTSET")));
  return packParams(paramsOf(node, autoPad));
}

void addOnnx(OnnxRules& rules) {
  rules.add("MaxPool",
            {"auto_pad",
             {"ceil_mode", 10},
             {"dilations", 10},
             required("kernel_shape"),
             "pads",
             {"storage_order", 8},
             "strides"},
            rule);
  rules.add("AveragePool",
            {"auto_pad",
             {"ceil_mode", 10},
             {"count_include_pad", 7},
             {"dilations", 19},
             required("kernel_shape"),
             "pads",
             "strides"},
            rule);
  rules.add("LpPool",
            {"auto_pad",
             {"ceil_mode", 18},
             {"dilations", 18},
             {"kernel_shape", 1, 1},
             required("kernel_shape", 2),
             "p",
             "pads",
             "strides"},
            rule);
  rules.add("GlobalLpPool", {"p"}, globalNormRule);
  rules.add("GlobalMaxPool", {}, passThrough("GlobalMaxPool"));
  rules.add("GlobalAveragePool", {}, passThrough("GlobalAveragePool"));
}

}  // namespace opkit::ops::pool
