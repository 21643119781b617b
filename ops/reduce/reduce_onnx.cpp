#include <algorithm>

#include "engine/import/onnx/onnx_fields.h"
#include "engine/op/oracle.h"
#include "ops/reduce/reduce_generated.h"

namespace opkit::ops::reduce {
namespace {

using Params = ReduceParamsT;

OnnxField<Params> keepDims() { return field("keepdims", &Params::keep_dims); }

/// ReduceSum before opset 13, the others before opset 18: axes are an attribute.
Status axesAttribute(OnnxNode& node) {
  OPKIT_ASSIGN(const Params params, readFields<Params>(node, {keepDims()}));
  std::vector<TensorId> inputs{node.input(0)};
  if (node.hasAttribute("axes")) inputs.push_back(node.addConstant("axes", node.intsAttribute("axes")));
  return node.emit(node.opType(), std::move(inputs), packParams(params));
}

const OnnxFields<Params>& inputFields() {
  static const OnnxFields<Params> fields{keepDims(), field("noop_with_empty_axes", &Params::noop_with_empty_axes)};
  return fields;
}

/// ONNX does not say what the logarithm of an integer below 1 is.
bool hasNoLogarithm(const OpNode& node) {
  const Tensor* x = node.type == "ReduceLogSum" ? valueOf(node, 0) : nullptr;
  return x && std::ranges::any_of(OracleTensor::fromTensor(*x).integer, [](int64_t value) { return value < 1; });
}

/// Axes that are a parameter become a constant. The input comes before the parameter.
Status write(const Params& params, const OpNode& node, OnnxForm& form) {
  if (hasNoLogarithm(node)) return Status::unsupported("ONNX does not say what the logarithm of an integer below 1 is");
  if (!params.axes.empty() && (node.inputs.size() < 2 || !node.inputs[1])) {
    form.inputs.resize(2);
    const TensorDesc list{DType::Int64, {std::ssize(params.axes)}};
    OPKIT_ASSIGN(form.inputs[1], Tensor::fromValues<int64_t>(list, params.axes));
  }
  return writeFields(params, inputFields(), form);
}

}  // namespace

void addOnnx(OnnxRules& rules) {
#define REDUCE(id, Name, numericClass)                                                     \
  {                                                                                        \
    const int firstWithInput = std::string_view(#Name) == "Sum" ? 13 : 18;                 \
    rules.add("Reduce" #Name, {"axes", "keepdims"}, axesAttribute, 1, firstWithInput - 1); \
    OnnxDeclaration rule = nodeOf("Reduce" #Name, inputFields());                          \
    rule.rule.inverse = inverseOf<Params>({"Reduce" #Name}, write);                        \
    rules.add("Reduce" #Name, std::move(rule), firstWithInput);                            \
  }
#include "ops/reduce/reduce_table.h"
}

}  // namespace opkit::ops::reduce
