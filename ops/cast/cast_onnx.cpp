#include "engine/import/onnx/onnx_dtype.h"
#include "engine/import/onnx/onnx_rules.h"
#include "ops/cast/cast_generated.h"
#include "ops/text/number_generated.h"

namespace opkit::ops::cast {
namespace {

Result<CastParamsT> codingOf(OnnxNode& node) {
  CastParamsT params;
  params.saturate = node.intAttribute("saturate", 1) != 0;
  const std::string mode = node.stringAttribute("round_mode", "up");
  if (mode == "down")
    params.round_mode = RoundMode::down;
  else if (mode == "nearest")
    params.round_mode = RoundMode::nearest;
  else if (mode != "up")
    return Status::invalidArgument("round_mode must be up, down or nearest, got '{}'", mode);
  return params;
}

Status fromString(OnnxNode& node, DType to) {
  text::NumberParamsT params;
  params.to = static_cast<uint8_t>(to);
  return node.emit("CastFromString", {node.input(0)}, packParams(params));
}

Status castByNumber(OnnxNode& node) {
  OPKIT_ASSIGN(const DType to, dtypeAttribute(node, "to"));
  if (to == DType::String) return node.emit("CastToString", node.inputs());
  if (node.isObject(0)) return fromString(node, to);
  OPKIT_ASSIGN(CastParamsT params, codingOf(node));
  params.to = static_cast<ElementType>(to);
  return node.emit("Cast", node.inputs(), packParams(params));
}

/// Before opset 6 the type has a name of TensorProto.DataType: FLOAT, INT64.
Status castByName(OnnxNode& node) {
  constexpr std::pair<const char*, DType> kNames[] = {
      {"FLOAT", DType::Float32}, {"UINT8", DType::UInt8},   {"INT8", DType::Int8},       {"UINT16", DType::UInt16},
      {"INT16", DType::Int16},   {"INT32", DType::Int32},   {"INT64", DType::Int64},     {"BOOL", DType::Bool},
      {"UINT32", DType::UInt32}, {"UINT64", DType::UInt64}, {"FLOAT16", DType::Float16}, {"DOUBLE", DType::Float64}};
  const std::string name = node.stringAttribute("to", "");
  for (const auto& [known, dtype] : kNames) {
    if (name != known) continue;
    CastParamsT params;
    params.to = static_cast<ElementType>(dtype);
    return node.emit("Cast", node.inputs(), packParams(params));
  }
  return Status::unsupported("to must name a numeric type such as FLOAT or INT64, got '{}'", name);
}

Status castLike(OnnxNode& node) {
  if (node.isObject(1)) return node.emit("CastToString", {node.input(0)});
  if (node.isObject(0)) {
    OPKIT_ASSIGN(const DType to, node.declaredType(1));
    return fromString(node, to);
  }
  OPKIT_ASSIGN(const CastParamsT params, codingOf(node));
  return node.emit("CastLike", node.inputs(), packParams(params));
}

}  // namespace

void addOnnx(OnnxRules& rules) {
  rules.add("Cast", {required("to")}, castByName, 1, 5);
  rules.add("Cast", {required("to"), {"saturate", 19}, {"round_mode", 24}}, castByNumber, 6);
  rules.add("CastLike", {{"saturate", 19}, {"round_mode", 24}}, castLike, 15);
}

}  // namespace opkit::ops::cast
