#include "engine/import/onnx/onnx_dtype.h"
#include "engine/import/onnx/onnx_fields.h"
#include "ops/bits/bits_parts.h"
#include "ops/cast/cast_generated.h"

namespace opkit::ops::bits {
namespace {

ParamBytes typeParams(DType to) {
  cast::CastParamsT params;
  params.to = static_cast<cast::ElementType>(to);
  return packParams(params);
}

/// A bool takes its byte and becomes 1 where that is not zero.
Status bitCastOnnx(OnnxNode& node) {
  OPKIT_ASSIGN(const DType to, dtypeAttribute(node, "to"));
  if (to != DType::Bool) return node.emit("BitCast", {node.input(0)}, typeParams(to));
  const TensorId byte = node.emitIntermediate("BitCast", {node.input(0)}, typeParams(DType::UInt8));
  return node.emit("Cast", {byte}, typeParams(DType::Bool));
}

}  // namespace

void addOnnx(OnnxRules& rules) {
  rules.add("BitwiseNot", {}, passThrough("BitwiseNot"), 18);
  const OnnxFields<cast::CastParamsT> fields{elementType(required("to"), &cast::CastParamsT::to)};
  rules.add("BitCast", {required("to")}, {bitCastOnnx, inverseOf({"BitCast"}, fields)}, 26);
}

}  // namespace opkit::ops::bits
