// ImageDecoder: an operator of the host, since the image's extents are in the stream.
#include "ops/image_decoder/image_decoder.h"

#include "engine/op/control.h"
#include "engine/op/op_registry.h"
#include "ops/image_decoder/image_decoder_parts.h"

namespace opkit::ops::image_decoder {
namespace {

using namespace std::string_view_literals;

struct Format {
  std::string_view magic;
  Result<Tensor> (*decode)(Stream);
};

constexpr Format kFormats[] = {
    {"BM"sv, decodeBmp},
    {"P1"sv, decodePnm},
    {"P2"sv, decodePnm},
    {"P3"sv, decodePnm},
    {"P4"sv, decodePnm},
    {"P5"sv, decodePnm},
    {"P6"sv, decodePnm},
#ifdef OPKIT_IMAGES
    {"\xFF\xD8\xFF"sv, decodeJpeg},
    {"\x89PNG\r\n\x1A\n"sv, decodePng},
    {"II*\0"sv, decodeTiff},
    {"MM\0*"sv, decodeTiff},
    {"II+\0"sv, decodeTiff},
    {"MM\0+"sv, decodeTiff},
    {"RIFF"sv, decodeWebp},
    {"\0\0\0\x0CjP  \r\n\x87\n"sv, decodeJpeg2000},
    {"\xFF\x4F\xFF\x51"sv, decodeJpeg2000},
#endif
};

/// PIL's weights, which sum to 2^16.
Result<Tensor> grayscaleOf(const Tensor& rgb) {
  OPKIT_ASSIGN(Tensor gray, Tensor::onHost({DType::UInt8, {rgb.desc.shape[0], rgb.desc.shape[1], 1}}));
  const uint8_t* pixel = rgb.data<uint8_t>().data();
  for (uint8_t& value : gray.data<uint8_t>()) {
    value = static_cast<uint8_t>((pixel[0] * 19595u + pixel[1] * 38470u + pixel[2] * 7471u + 0x8000u) >> 16);
    pixel += 3;
  }
  return gray;
}

Result<std::vector<Tensor>> run(const ControlArgs& args) {
  OPKIT_TRY(checkCodecs());
  const Tensor& stream = args.inputs[0];
  if (stream.desc.shape.size() != 1)
    return Status::invalidArgument("encoded_stream must be [length], got {}", stream.desc.toString());
  OPKIT_ASSIGN(Tensor image, decode(stream.data<uint8_t>()));
  const PixelFormat format = args.params<ImageDecoderParams>().pixel_format;
  if (format == PixelFormat::grayscale) {
    OPKIT_ASSIGN(image, grayscaleOf(image));
  } else if (format == PixelFormat::bgr) {
    const std::span<uint8_t> bytes = image.data<uint8_t>();
    for (size_t i = 0; i < bytes.size(); i += 3) std::swap(bytes[i], bytes[i + 2]);
  }
  return std::vector{std::move(image)};
}

}  // namespace

Status checkCodecs() {
#ifdef OPKIT_IMAGES
  return Status::ok();
#else
  return Status::unsupported("this build lacks libjpeg, libpng, libtiff 4.5, libwebp or libopenjp2");
#endif
}

Status checkExtents(int64_t height, int64_t width) {
  constexpr int64_t kMostBytes = int64_t{1} << 30;
  if (height <= kMostBytes / 3 / width) return Status::ok();
  return Status::invalidArgument("an image may have at most {} bytes of RGB, got {} x {} pixels", kMostBytes, height,
                                 width);
}

Result<Tensor> newImage(int64_t height, int64_t width) {
  OPKIT_TRY(checkExtents(height, width));
  return Tensor::onHost({DType::UInt8, {height, width, 3}});
}

Result<Tensor> noImage() { return Tensor::onHost({DType::UInt8, {0, 0, 3}}); }

Result<Tensor> decode(Stream stream) {
  const std::string_view text(reinterpret_cast<const char*>(stream.data()), stream.size());
  for (const Format& format : kFormats)
    if (text.starts_with(format.magic)) return format.decode(stream);
  return noImage();
}

void define(OpRegistry& registry) {
  registry.add({.type = "ImageDecoder",
                .summary = "the pixels of an image file",
                .params = paramsSchema<ImageDecoderParams>(kImageDecoderSchema),
                .inputs = {{"encoded_stream", DTypeSet(DType::UInt8)}},
                .outputs = {{"image", DTypeSet(DType::UInt8)}},
                .control = run});
}

}  // namespace opkit::ops::image_decoder
