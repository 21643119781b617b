// Decoders of image files in memory, one per format. Each gives RGB without alpha, [height, width, 3]. They keep no
// state: any number of threads may call them.
#pragma once

#include <span>

#include "engine/tensor/tensor.h"

namespace opkit::ops::image_decoder {

using Stream = std::span<const uint8_t>;

/// Unsupported if the build did not find the libraries of the compressed formats.
Status checkCodecs();

/// InvalidArgument if the pixels take more than 2^30 bytes. REQUIRES height and width of 1 or more.
Status checkExtents(int64_t height, int64_t width);
/// u8 [height, width, 3] of zeros, after checkExtents.
Result<Tensor> newImage(int64_t height, int64_t width);
/// u8 [0, 0, 3], the result for a stream that cannot be decoded.
Result<Tensor> noImage();

/// By the first bytes; noImage for any other format. The others are noImage for a broken or cut stream.
Result<Tensor> decode(Stream stream);
Result<Tensor> decodeBmp(Stream stream);
Result<Tensor> decodePnm(Stream stream);
Result<Tensor> decodeJpeg(Stream stream);
Result<Tensor> decodeJpeg2000(Stream stream);
Result<Tensor> decodePng(Stream stream);
Result<Tensor> decodeTiff(Stream stream);
Result<Tensor> decodeWebp(Stream stream);

}  // namespace opkit::ops::image_decoder
