#include "engine/import/onnx/onnx_rules.h"
#include "ops/einsum/einsum_parts.h"

namespace opkit::ops::einsum {
namespace {

Status rule(OnnxNode& node) {
  if (!node.hasAttribute("equation")) return Status::invalidArgument("Einsum: the attribute equation is required");
  EinsumParamsT params;
  params.equation = node.stringAttribute("equation", "");
  return node.emit("Einsum", node.inputs(), packParams(params));
}

}  // namespace

void addOnnx(OnnxRules& rules) { rules.add("Einsum", {"equation"}, rule, 12); }

}  // namespace opkit::ops::einsum
