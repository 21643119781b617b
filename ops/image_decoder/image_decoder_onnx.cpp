#include "engine/import/onnx/onnx_rules.h"
#include "ops/image_decoder/image_decoder.h"
#include "ops/image_decoder/image_decoder_parts.h"

namespace opkit::ops::image_decoder {
namespace {

Status rule(OnnxNode& node) {
  ImageDecoderParamsT params;
  OPKIT_TRY(checkCodecs());
  OPKIT_ASSIGN(params.pixel_format,
               choiceAttribute<PixelFormat>(
                   node, "pixel_format",
                   {{"RGB", PixelFormat::rgb}, {"BGR", PixelFormat::bgr}, {"Grayscale", PixelFormat::grayscale}}));
  return node.emit("ImageDecoder", node.inputs(), packParams(params));
}

}  // namespace

void addOnnx(OnnxRules& rules) { rules.add("ImageDecoder", {"pixel_format"}, rule, 20); }

}  // namespace opkit::ops::image_decoder
