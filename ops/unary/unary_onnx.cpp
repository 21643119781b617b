#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/import/onnx/onnx_fields.h"
#include "ops/unary/unary.h"

namespace opkit::ops::unary {
namespace {

using Params = UnaryParamsT;

Status isInf(OnnxNode& node) {
  UnaryParamsT params;
  params.alpha = node.intAttribute("detect_positive", 1) != 0 ? 1.0f : 0.0f;
  params.beta = node.intAttribute("detect_negative", 1) != 0 ? 1.0f : 0.0f;
  return node.emit("IsInf", node.inputs(), packParams(params));
}

Status gelu(OnnxNode& node) {
  const std::string approximate = node.stringAttribute("approximate", "none");
  if (approximate != "none" && approximate != "tanh")
    return Status::invalidArgument("Gelu: approximate must be none or tanh, got '{}'", approximate);
  return node.emit(approximate == "none" ? "Gelu" : "GeluTanh", node.inputs());
}

/// Absent parameters mean both signs.
Status writeIsInf(const Params& params, const OpNode&, OnnxForm& form) {
  if (params.alpha && *params.alpha == 0) form.attributes["detect_positive"] = int64_t{0};
  if (params.beta && *params.beta == 0) form.attributes["detect_negative"] = int64_t{0};
  return Status::ok();
}

Status writeGelu(const OpNode& node, OnnxForm& form) {
  if (node.type == "GeluTanh") form.attributes["approximate"] = "tanh";
  return Status::ok();
}

/// Swish of the gate times the value.
Status swiGlu(OnnxNode& node) {
  UnaryParamsT params;
  params.alpha = node.floatAttribute("alpha", 1.0f);
  const TensorId gate = node.emitIntermediate("Swish", {node.input(0)}, packParams(params));
  return node.emit("Mul", {gate, node.input(1)});
}

/// Opset 1 to 10: the limits are attributes. Absent ones are the largest numbers from opset 6 on, none before.
Status clipAttributes(OnnxNode& node) {
  UnaryParamsT params;
  constexpr float kLargest = std::numeric_limits<float>::max();
  if (node.hasAttribute("min") || node.opset() >= 6) params.alpha = node.floatAttribute("min", -kLargest);
  if (node.hasAttribute("max") || node.opset() >= 6) params.beta = node.floatAttribute("max", kLargest);
  return node.emit("Clip", {node.input(0)}, packParams(params));
}

/// True if limit `i` is absent or a constant in f32 or f16, which is then stored in `value`.
bool takeFloat(const OnnxNode& node, size_t i, flatbuffers::Optional<float>& value) {
  if (!node.input(i)) return true;
  const Tensor* constant = node.constantInput(i);
  if (!constant || constant->desc.elements() != 1) return false;
  if (constant->desc.dtype == DType::Float32) value = constant->data<float>()[0];
  if (constant->desc.dtype == DType::Float16) value = toFloat(constant->data<Half>()[0]);
  return value.has_value();
}

/// Limit `i` without axes: Max and Min broadcast, but a limit neither changes the shape of x nor differs within it.
Result<TensorId> scalarLimit(OnnxNode& node, size_t i) {
  const Tensor* constant = node.constantInput(i);
  if (!node.input(i) || (constant && constant->desc.shape.empty())) return node.input(i);
  if (!constant)
    return node.emitIntermediate("Reshape", {node.input(i), node.addConstant("scalar", std::vector<int64_t>{})});
  if (constant->desc.elements() != 1)
    return Status::invalidArgument("{} must be a scalar, got {}", i == 1 ? "min" : "max",
                                   toString(constant->desc.shape));
  Tensor scalar = *constant;
  scalar.desc.shape = {};
  return node.addConstant(i == 1 ? "min" : "max", std::move(scalar));
}

/// Opset 11 and later: the limits are inputs. Constants become parameters; anything else goes through Max and Min.
Status clipInputs(OnnxNode& node) {
  UnaryParamsT params;
  const TensorId x = node.input(0);
  if (!node.input(1) && !node.input(2)) return node.emit("Identity", {x});
  if (takeFloat(node, 1, params.alpha) && takeFloat(node, 2, params.beta))
    return node.emit("Clip", {x}, packParams(params));
  OPKIT_ASSIGN(const TensorId low, scalarLimit(node, 1));
  OPKIT_ASSIGN(const TensorId high, scalarLimit(node, 2));
  if (!high) return node.emit("Max", {x, low});
  return node.emit("Min", {!low ? x : node.emitIntermediate("Max", {x, low}), high});
}

Status writeClipAttributes(const Params& params, const OpNode&, OnnxForm& form) {
  if (form.opset >= 6 && !(params.alpha && params.beta))
    return Status::unsupported("an absent limit of Clip is the largest number from opset 6 to 10");
  if (params.alpha) form.attributes["min"] = *params.alpha;
  if (params.beta) form.attributes["max"] = *params.beta;
  return Status::ok();
}

/// Limits become constants of x's type.
Status writeClipInputs(const Params& params, const OpNode& node, OnnxForm& form) {
  for (const flatbuffers::Optional<float>& limit : {params.alpha, params.beta}) {
    if (!limit) {
      form.inputs.emplace_back();
      continue;
    }
    OPKIT_ASSIGN(Tensor constant, Tensor::onHost({node.inputs[0]->dtype, {}}));
    OracleTensor value(constant.desc);
    if (value.isReal())
      value.real[0] = static_cast<double>(*limit);
    else
      value.integer[0] = static_cast<int64_t>(*limit);
    value.toTensor(constant);
    form.inputs.emplace_back(std::move(constant));
  }
  return Status::ok();
}

const OnnxFields<Params>& shrinkFields() {
  static const OnnxFields<Params> fields{field("lambd", &Params::alpha, 0.5f), field("bias", &Params::beta, 0)};
  return fields;
}

/// Shrink keeps NaN; by ONNX it is 0, like all that lies on neither side.
Status writeShrink(const Params& params, const OpNode& node, OnnxForm& form) {
  if (const Tensor* x = valueOf(node, 0)) {
    const OracleTensor values = OracleTensor::fromTensor(*x);
    if (std::ranges::any_of(values.real, [](double value) { return std::isnan(value); }))
      return Status::unsupported("Shrink of NaN is 0 in ONNX");
  }
  return writeFields(params, shrinkFields(), form);
}

}  // namespace

void addOnnx(OnnxRules& rules) {
  for (const char* type :
       {"Relu", "HardSwish", "Abs",  "Neg",  "Sign", "Floor", "Ceil", "Round",   "Sqrt",    "Reciprocal", "Softsign",
        "Exp",  "Log",       "Mish", "Erf",  "Tanh", "Sinh",  "Cosh", "Asinh",   "Acosh",   "Atanh",      "Sin",
        "Cos",  "Tan",       "Asin", "Acos", "Atan", "IsNaN", "Not",  "Sigmoid", "Softplus"})
    rules.add(type, {}, passThrough(type));
  const auto alpha = [](float fallback) { return field("alpha", &Params::alpha, fallback); };
  rules.add("LeakyRelu", nodeOf<Params>("LeakyRelu", {alpha(0.01f)}));
  for (const char* type : {"ThresholdedRelu", "Elu", "Celu", "Swish"})
    rules.add(type, nodeOf<Params>(type, {alpha(1)}));
  rules.add("HardSigmoid", nodeOf<Params>("HardSigmoid", {alpha(0.2f), field("beta", &Params::beta, 0.5f)}));
  rules.add("Shrink", attributesOf(shrinkFields()),
            {nodeOf("Shrink", shrinkFields()).rule.read, inverseOf<Params>({"Shrink"}, writeShrink)});
  const auto selu = [&](float a, float gamma) {
    return nodeOf<Params>("Selu", {alpha(a), field("gamma", &Params::beta, gamma)});
  };
  rules.add("Selu", selu(1.6732f, 1.0507f), 1, 5);
  rules.add("Selu", selu(1.67326319217681884765625f, 1.05070102214813232421875f), 6);
  rules.add("IsInf", {"detect_negative", "detect_positive"}, {isInf, inverseOf<Params>({"IsInf"}, writeIsInf)});
  rules.add("Gelu", {"approximate"}, {gelu, {{"Gelu", "GeluTanh"}, writeGelu}});
  rules.add("SwiGLU", {"alpha"}, swiGlu);
  rules.add("Clip", {"min", "max"}, {clipAttributes, inverseOf<Params>({"Clip"}, writeClipAttributes)}, 1, 10);
  rules.add("Clip", {}, {clipInputs, inverseOf<Params>({"Clip"}, writeClipInputs)}, 11);
  rules.note("Clip", {"Clip", "Max", "Min"});
  rules.note("Gelu", {"Gelu", "GeluTanh"});
  rules.note("SwiGLU", {"Swish", "Mul"});
}

}  // namespace opkit::ops::unary
