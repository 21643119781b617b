#include "engine/import/onnx/onnx_fields.h"
#include "ops/image_decoder/image_decoder.h"
#include "ops/image_decoder/image_decoder_parts.h"

namespace opkit::ops::image_decoder {
namespace {

using Params = ImageDecoderParamsT;

OnnxField<Params> format() {
  return choice("pixel_format", &Params::pixel_format,
                {{"RGB", PixelFormat::rgb}, {"BGR", PixelFormat::bgr}, {"Grayscale", PixelFormat::grayscale}});
}

Status rule(OnnxNode& node) {
  OPKIT_TRY(checkCodecs());
  OPKIT_ASSIGN(const Params params, readFields<Params>(node, {format()}));
  return node.emit("ImageDecoder", node.inputs(), packParams(params));
}

}  // namespace

void addOnnx(OnnxRules& rules) {
  rules.add("ImageDecoder", format().attributes, {rule, inverseOf<Params>({"ImageDecoder"}, {format()})}, 20);
}

}  // namespace opkit::ops::image_decoder
