#include "engine/import/onnx/onnx_rules.h"
#include "ops/reduce/reduce_generated.h"

namespace opkit::ops::reduce {
namespace {

/// ReduceSum before opset 13, the others before opset 18: axes are an attribute.
Status axesAttribute(OnnxNode& node) {
  ReduceParamsT params;
  params.keep_dims = node.intAttribute("keepdims", 1) != 0;
  std::vector<int> inputs{node.input(0)};
  if (node.hasAttribute("axes")) inputs.push_back(node.addConstant("axes", node.intsAttribute("axes")));
  return node.emit(node.opType(), std::move(inputs), packParams(params));
}

Status axesInput(OnnxNode& node) {
  ReduceParamsT params;
  params.keep_dims = node.intAttribute("keepdims", 1) != 0;
  params.noop_with_empty_axes = node.intAttribute("noop_with_empty_axes", 0) != 0;
  return node.emit(node.opType(), node.inputs(), packParams(params));
}

}  // namespace

void addOnnx(OnnxRules& rules) {
#define REDUCE(id, Name, numericClass)                                                          \
  {                                                                                             \
    const int firstWithInput = std::string_view(#Name) == "Sum" ? 13 : 18;                      \
    rules.add("Reduce" #Name, {"axes", "keepdims"}, axesAttribute, 1, firstWithInput - 1);      \
    rules.add("Reduce" #Name, {"keepdims", "noop_with_empty_axes"}, axesInput, firstWithInput); \
  }
#include "ops/reduce/reduce_table.h"
}

}  // namespace opkit::ops::reduce
