#include <algorithm>
#include <cmath>

#include "engine/import/onnx/onnx_fields.h"
#include "engine/op/oracle.h"
#include "ops/binary/binary_generated.h"
#include "ops/text/over_strings.h"

namespace opkit::ops::binary {
namespace {

/// Before opset 7 broadcasting was explicit, with the axis of x at which y begins.
OnnxRule legacyBroadcast(const std::string& type) {
  const OnnxFields<BinaryParamsT> fields{field("axis", &BinaryParamsT::axis)};
  const auto read = [=](OnnxNode& node) -> Status {
    OPKIT_ASSIGN(BinaryParamsT params, readFields(node, fields));
    if (node.intAttribute("broadcast", 0) == 0) params.axis.reset();
    return node.emit(type, node.inputs(), packParams(params));
  };
  const auto write = [=](const BinaryParamsT& params, const OpNode&, OnnxForm& form) -> Status {
    if (params.axis) form.attributes["broadcast"] = int64_t{1};
    return writeFields(params, fields, form);
  };
  return {read, inverseOf<BinaryParamsT>({type}, write)};
}

Status mod(OnnxNode& node) { return node.emit(node.intAttribute("fmod", 0) != 0 ? "FMod" : "Mod", node.inputs()); }

Status writeMod(const OpNode& node, OnnxForm& form) {
  if (node.type == "FMod") form.attributes["fmod"] = int64_t{1};
  return Status::ok();
}

Status writeBitShift(const OpNode& node, OnnxForm& form) {
  form.attributes["direction"] = node.type == "ShiftLeft" ? "LEFT" : "RIGHT";
  return Status::ok();
}

Status bitShift(OnnxNode& node) {
  const std::string direction = node.stringAttribute("direction", "");
  if (direction != "LEFT" && direction != "RIGHT")
    return Status::invalidArgument("BitShift: direction must be LEFT or RIGHT, got '{}'", direction);
  return node.emit(direction == "LEFT" ? "ShiftLeft" : "ShiftRight", node.inputs());
}

/// Before opset 7 a slope per channel had one axis: the channel axis of x. There a computed slope of one element may
/// lie too.
Status legacyPRelu(OnnxNode& node) {
  const Tensor* slope = node.constantInput(1);
  BinaryParamsT params;
  if (!slope || (slope->desc.elements() != 1 && slope->desc.shape.size() == 1)) params.axis = 1;
  return node.emit("PRelu", node.inputs(), packParams(params));
}

/// The integers of an input; empty if they are unknown or floats.
std::vector<int64_t> integersOf(const OpNode& node, size_t input) {
  const Tensor* values = valueOf(node, input);
  return values ? OracleTensor::fromTensor(*values).integer : std::vector<int64_t>();
}

/// `write`, if no integer is divided by 0, of which ONNX says nothing. Engines may end there, as processors do.
OnnxInverse unlessByZero(OnnxInverse inverse) {
  inverse.write = [write = inverse.write](const OpNode& node, OnnxForm& form) -> Status {
    const std::vector<int64_t> divisors = integersOf(node, 1);
    if (std::ranges::find(divisors, 0) != divisors.end())
      return Status::unsupported("ONNX does not say what an integer divided by 0 is");
    return write(node, form);
  };
  return inverse;
}

/// `write`, if every power of integers is one: ONNX does not say how fractions are rounded, nor what is too large.
OnnxInverse unlessBeyondIntegers(OnnxInverse inverse) {
  inverse.write = [write = inverse.write](const OpNode& node, OnnxForm& form) -> Status {
    const std::vector<int64_t> bases = integersOf(node, 0), exponents = integersOf(node, 1);
    if (!bases.empty() && !exponents.empty()) {
      double base = 0;
      for (const int64_t one : bases) base = std::max(base, std::fabs(static_cast<double>(one)));
      const auto [least, most] = std::ranges::minmax(exponents);
      const double limit = std::ldexp(1.0, 8 * static_cast<int>(sizeOf(node.inputs[0]->dtype)) - 1);
      if (least < 0 || std::pow(base, static_cast<double>(most)) >= limit)
        return Status::unsupported("ONNX does not say what a power beyond the integers of its type is");
    }
    return write(node, form);
  };
  return inverse;
}

constexpr text::StringPorts kCompared{.last = 1, .made = text::Made::Numbers};

}  // namespace

void addOnnx(OnnxRules& rules) {
  for (const char* type : {"Add", "Sub", "Mul", "Div", "Pow", "Equal", "Less", "Greater", "And", "Or", "Xor"}) {
    rules.add(type, {"broadcast", "axis"}, legacyBroadcast(type), 1, 6);
    const bool takesStrings = std::string_view(type) == "Equal";
    OnnxRule rule = takesStrings ? text::overStrings(passThrough(type), kCompared) : passThrough(type);
    if (std::string_view(type) == "Div") rule.inverse = unlessByZero(std::move(rule.inverse));
    if (std::string_view(type) == "Pow") rule.inverse = unlessBeyondIntegers(std::move(rule.inverse));
    rules.add(type, {}, std::move(rule), 7);
  }
  for (const char* type : {"LessOrEqual", "GreaterOrEqual"}) rules.add(type, {}, passThrough(type), 12);
  for (const char* type : {"BitwiseAnd", "BitwiseOr", "BitwiseXor"}) rules.add(type, {}, passThrough(type), 18);
  rules.add("Mod", {"fmod"}, {mod, unlessByZero({{"Mod", "FMod"}, writeMod})}, 10);
  rules.add("BitShift", {"direction"}, {bitShift, {{"ShiftLeft", "ShiftRight"}, writeBitShift}}, 11);
  rules.add("PRelu", {}, legacyPRelu, 1, 6);
  rules.add("PRelu", {}, passThrough("PRelu"), 7);
  rules.note("BitShift", {"ShiftLeft", "ShiftRight"});
  rules.note("Mod", {"Mod", "FMod"});
}

}  // namespace opkit::ops::binary
