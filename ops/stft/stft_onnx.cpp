#include "engine/import/onnx/onnx_fields.h"
#include "ops/stft/stft_parts.h"

namespace opkit::ops::stft {

void addOnnx(OnnxRules& rules) {
  rules.add("STFT", nodeOf<StftParamsT>("STFT", {field("onesided", &StftParamsT::onesided)}), 17);
}

}  // namespace opkit::ops::stft
