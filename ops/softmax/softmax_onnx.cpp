#include "engine/import/onnx/onnx_rules.h"
#include "ops/softmax/softmax_generated.h"

namespace opkit::ops::softmax {
namespace {

OnnxRule rule(bool log, bool flatten) {
  return [=](OnnxNode& node) {
    SoftmaxParamsT params;
    params.axis = static_cast<int>(node.intAttribute("axis", flatten ? 1 : -1));
    params.flatten = flatten;
    params.log = log;
    return node.emit("Softmax", node.inputs(), packParams(params));
  };
}

}  // namespace

void addOnnx(OnnxRules& rules) {
  rules.add("Softmax", {"axis"}, rule(false, true), 1, 12);
  rules.add("Softmax", {"axis"}, rule(false, false), 13);
  rules.add("LogSoftmax", {"axis"}, rule(true, true), 1, 12);
  rules.add("LogSoftmax", {"axis"}, rule(true, false), 13);
  rules.note("LogSoftmax", {"Softmax"});
}

}  // namespace opkit::ops::softmax
