// WebP by libwebp: still images, lossy and lossless.
#include <webp/decode.h>

#include "ops/image_decoder/image_decoder.h"

namespace opkit::ops::image_decoder {

Result<Tensor> decodeWebp(Stream stream) {
  int width = 0, height = 0;
  if (!WebPGetInfo(stream.data(), stream.size(), &width, &height)) return noImage();
  OPKIT_ASSIGN(Tensor image, newImage(height, width));
  const std::span<uint8_t> rgb = image.data<uint8_t>();
  if (!WebPDecodeRGBInto(stream.data(), stream.size(), rgb.data(), rgb.size(), 3 * width)) return noImage();
  return image;
}

}  // namespace opkit::ops::image_decoder
