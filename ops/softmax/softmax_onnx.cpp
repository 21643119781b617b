#include "engine/import/onnx/onnx_fields.h"
#include "ops/softmax/softmax_generated.h"

namespace opkit::ops::softmax {
namespace {

using Params = SoftmaxParamsT;

OnnxDeclaration flattening(bool log) {
  return nodeOf<Params>("Softmax",
                        {field("axis", &Params::axis, 1), fixed(&Params::flatten, true), fixed(&Params::log, log)});
}

OnnxDeclaration alongAxis(bool log) {
  return nodeOf<Params>("Softmax",
                        {field("axis", &Params::axis), fixed(&Params::flatten, false), fixed(&Params::log, log)});
}

}  // namespace

void addOnnx(OnnxRules& rules) {
  rules.add("Softmax", flattening(false), 1, 12);
  rules.add("Softmax", alongAxis(false), 13);
  rules.add("LogSoftmax", flattening(true), 1, 12);
  rules.add("LogSoftmax", alongAxis(true), 13);
  rules.note("LogSoftmax", {"Softmax"});
}

}  // namespace opkit::ops::softmax
