#include "engine/import/onnx/onnx_rules.h"
#include "ops/text/over_strings.h"

namespace opkit::ops::slice {
namespace {

/// Opset 1 to 9: starts, ends and axes are attributes.
Status attributes(OnnxNode& node) {
  std::vector<TensorId> inputs = {node.input(0), node.addConstant("starts", node.intsAttribute("starts")),
                                  node.addConstant("ends", node.intsAttribute("ends"))};
  if (node.hasAttribute("axes")) inputs.push_back(node.addConstant("axes", node.intsAttribute("axes")));
  return node.emit("Slice", std::move(inputs));
}

}  // namespace

void addOnnx(OnnxRules& rules) {
  rules.add("Slice", {required("starts"), required("ends"), "axes"}, text::overStrings(attributes), 1, 9);
  rules.add("Slice", {}, text::overStrings(passThrough("Slice")), 10);
}

}  // namespace opkit::ops::slice
