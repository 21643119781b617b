#include "engine/import/onnx/onnx_fields.h"
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

}  // namespace

void addOnnx(OnnxRules& rules) {
  const OnnxFields<Params> fields{keepDims(), field("noop_with_empty_axes", &Params::noop_with_empty_axes)};
#define REDUCE(id, Name, numericClass)                                                     \
  {                                                                                        \
    const int firstWithInput = std::string_view(#Name) == "Sum" ? 13 : 18;                 \
    rules.add("Reduce" #Name, {"axes", "keepdims"}, axesAttribute, 1, firstWithInput - 1); \
    rules.add("Reduce" #Name, nodeOf("Reduce" #Name, fields), firstWithInput);             \
  }
#include "ops/reduce/reduce_table.h"
}

}  // namespace opkit::ops::reduce
