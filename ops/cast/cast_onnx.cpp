#include "engine/import/onnx/onnx_dtype.h"
#include "engine/import/onnx/onnx_rules.h"
#include "ops/cast/cast_generated.h"

namespace opkit::ops::cast {
namespace {

Status castByNumber(OnnxNode& node) {
  OPKIT_ASSIGN(const DType to, dtypeFromOnnx(node.intAttribute("to", 0)));
  CastParamsT params;
  params.to = static_cast<ElementType>(to);
  return node.emit("Cast", node.inputs(), packParams(params));
}

/// Cast-1 names the type: "FLOAT", "INT64".
Status castByName(OnnxNode&) {
  return Status::unsupported("Cast: before opset 6 the type is a string; convert the model to opset 6 or later");
}

}  // namespace

void addOnnx(OnnxRules& rules) {
  rules.add("Cast", {"to"}, castByName, 1, 5);
  rules.add("Cast", {"to", "saturate"}, castByNumber, 6);
  rules.add("CastLike", {"saturate"}, passThrough("CastLike"), 15);
}

}  // namespace opkit::ops::cast
