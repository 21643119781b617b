#include "engine/import/onnx/onnx_rules.h"
#include "ops/stft/stft_parts.h"

namespace opkit::ops::stft {
namespace {

Status rule(OnnxNode& node) {
  StftParamsT params;
  params.onesided = node.intAttribute("onesided", 1) != 0;
  return node.emit("STFT", node.inputs(), packParams(params));
}

}  // namespace

void addOnnx(OnnxRules& rules) { rules.add("STFT", {"onesided"}, rule, 17); }

}  // namespace opkit::ops::stft
