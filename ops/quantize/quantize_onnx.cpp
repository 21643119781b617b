#include "engine/import/onnx/onnx_dtype.h"
#include "engine/import/onnx/onnx_fields.h"
#include "ops/quantize/quantize.h"

namespace opkit::ops::quantize {
namespace {

/// A type attribute as an enum of DType's numbers; 0 stays 0.
template <class Params, class Enum>
OnnxField<Params> typeField(const char* name, int firstOpset, Enum Params::*member, DTypeSet allowed) {
  const auto read = [=](const OnnxNode& node, Params& params) -> Status {
    if (node.intAttribute(name, 0) == 0) return Status::ok();
    OPKIT_ASSIGN(const DType dtype, dtypeAttribute(node, name));
    if (!allowed.contains(dtype))
      return Status::invalidArgument("{} must be one of {}, got {}", name, allowed.toString(), nameOf(dtype));
    params.*member = static_cast<Enum>(dtype);
    return Status::ok();
  };
  return {{{name, firstOpset}}, read, elementType(OnnxAttribute(name, firstOpset), member).write};
}

}  // namespace

void addOnnx(OnnxRules& rules) {
  using To = QuantizeParamsT;
  using From = DequantizeParamsT;
  rules.add("QuantizeLinear",
            nodeOf<To>("QuantizeLinear", {field({"axis", 13}, &To::axis), field({"block_size", 21}, &To::block_size),
                                          field({"saturate", 19}, &To::saturate),
                                          typeField("output_dtype", 21, &To::output_type, kQuantized),
                                          typeField("precision", 23, &To::precision, kReals)}),
            10);
  rules.add(
      "DequantizeLinear",
      nodeOf<From>("DequantizeLinear", {field({"axis", 13}, &From::axis), field({"block_size", 21}, &From::block_size),
                                        typeField("output_dtype", 23, &From::output_type, kReals)}),
      10);
  // ONNX Runtime divides in f32, whatever the types.
  rules.add("com.microsoft::QuantizeLinear",
            nodeOf<To>("QuantizeLinear", {field("axis", &To::axis), fixed(&To::precision, Precision::f32)}));
  rules.add("com.microsoft::DequantizeLinear", nodeOf<From>("DequantizeLinear", {field("axis", &From::axis)}));
  rules.note("com.microsoft::QuantizeLinear", {"QuantizeLinear"});
  rules.note("com.microsoft::DequantizeLinear", {"DequantizeLinear"});
}

}  // namespace opkit::ops::quantize
