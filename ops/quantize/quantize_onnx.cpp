#include "engine/import/onnx/onnx_dtype.h"
#include "engine/import/onnx/onnx_rules.h"
#include "ops/quantize/quantize.h"

namespace opkit::ops::quantize {
namespace {

/// A type attribute as an enum of DType's numbers; 0 stays 0.
template <class Enum>
Result<Enum> typeAttribute(const OnnxNode& node, const char* name, DTypeSet allowed) {
  if (node.intAttribute(name, 0) == 0) return Enum{};
  OPKIT_ASSIGN(const DType dtype, dtypeAttribute(node, name));
  if (!allowed.contains(dtype))
    return Status::invalidArgument("{} must be one of {}, got {}", name, allowed.toString(), nameOf(dtype));
  return static_cast<Enum>(dtype);
}

Status quantize(OnnxNode& node) {
  QuantizeParamsT params;
  params.axis = node.intAttribute("axis", 1);
  params.block_size = node.intAttribute("block_size", 0);
  params.saturate = node.intAttribute("saturate", 1) != 0;
  OPKIT_ASSIGN(params.output_type, typeAttribute<QuantizedType>(node, "output_dtype", kQuantized));
  OPKIT_ASSIGN(params.precision, typeAttribute<Precision>(node, "precision", kReals));
  return node.emit("QuantizeLinear", node.inputs(), packParams(params));
}

Status dequantize(OnnxNode& node) {
  DequantizeParamsT params;
  params.axis = node.intAttribute("axis", 1);
  params.block_size = node.intAttribute("block_size", 0);
  OPKIT_ASSIGN(params.output_type, typeAttribute<RealType>(node, "output_dtype", kReals));
  return node.emit("DequantizeLinear", node.inputs(), packParams(params));
}

}  // namespace

void addOnnx(OnnxRules& rules) {
  rules.add("QuantizeLinear", {}, quantize, 10, 12);
  rules.add("QuantizeLinear", {"axis"}, quantize, 13, 18);
  rules.add("QuantizeLinear", {"axis", "saturate"}, quantize, 19, 20);
  rules.add("QuantizeLinear", {"axis", "block_size", "output_dtype", "saturate"}, quantize, 21, 22);
  rules.add("QuantizeLinear", {"axis", "block_size", "output_dtype", "precision", "saturate"}, quantize, 23);
  rules.add("DequantizeLinear", {}, dequantize, 10, 12);
  rules.add("DequantizeLinear", {"axis"}, dequantize, 13, 20);
  rules.add("DequantizeLinear", {"axis", "block_size"}, dequantize, 21, 22);
  rules.add("DequantizeLinear", {"axis", "block_size", "output_dtype"}, dequantize, 23);
}

}  // namespace opkit::ops::quantize
