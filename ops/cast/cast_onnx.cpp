#include "engine/import/onnx/onnx_dtype.h"
#include "engine/import/onnx/onnx_fields.h"
#include "ops/cast/cast_generated.h"
#include "ops/text/number_generated.h"

namespace opkit::ops::cast {
namespace {

const OnnxFields<CastParamsT>& coding() {
  using Params = CastParamsT;
  static const OnnxFields<Params> fields{
      field({"saturate", 19}, &Params::saturate),
      choice({"round_mode", 24}, &Params::round_mode,
             {{"up", RoundMode::up}, {"down", RoundMode::down}, {"nearest", RoundMode::nearest}})};
  return fields;
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
  OPKIT_ASSIGN(CastParamsT params, readFields(node, coding()));
  params.to = static_cast<ElementType>(to);
  return node.emit("Cast", node.inputs(), packParams(params));
}

Status writeCast(const CastParamsT& params, const OpNode&, OnnxForm& form) {
  form.attributes["to"] = int64_t{onnxNumberOf(static_cast<DType>(params.to))};
  return writeFields(params, coding(), form);
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
  OPKIT_ASSIGN(const CastParamsT params, readFields(node, coding()));
  return node.emit("CastLike", node.inputs(), packParams(params));
}

}  // namespace

void addOnnx(OnnxRules& rules) {
  rules.add("Cast", {required("to")}, castByName, 1, 5);
  std::vector<OnnxAttribute> attributes = attributesOf(coding());
  rules.add("CastLike", attributes, {castLike, inverseOf({"CastLike"}, coding())}, 15);
  attributes.push_back(required("to"));
  rules.add("Cast", attributes, {castByNumber, inverseOf<CastParamsT>({"Cast"}, writeCast)}, 6);
}

}  // namespace opkit::ops::cast
