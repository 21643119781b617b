// ImageDecoder: exact pixels of lossless formats, lossy ones within a tolerance, streams that are broken.
#include "ops/image_decoder/image_decoder.h"

#include <gtest/gtest.h>

#include <random>

#include "engine/op/control.h"
#include "ops/builtin_ops.h"
#include "ops/image_decoder/image_decoder_generated.h"

#ifdef OPKIT_IMAGES
#include "ops/image_decoder/encoder_test_support.h"

namespace opkit::ops::image_decoder {
namespace {

Result<std::vector<Tensor>> call(const Tensor& stream, PixelFormat format = PixelFormat::rgb) {
  ImageDecoderParamsT params;
  params.pixel_format = format;
  return runOnHost(*builtinOps().find("ImageDecoder"), {packParams(params), std::vector{stream}, {}, 1});
}

Tensor streamOf(const Bytes& bytes) {
  return *Tensor::fromValues<uint8_t>({DType::UInt8, {static_cast<int64_t>(bytes.size())}}, bytes);
}

struct Image {
  Shape shape;
  Bytes pixels;
};

Image decoded(const Bytes& stream, PixelFormat format = PixelFormat::rgb) {
  const auto outputs = call(streamOf(stream), format);
  EXPECT_TRUE(outputs) << outputs.error().toString();
  if (!outputs) return {};
  const std::span<const uint8_t> pixels = (*outputs)[0].data<uint8_t>();
  return {(*outputs)[0].desc.shape, {pixels.begin(), pixels.end()}};
}

void expectImage(const Bytes& stream, const Shape& shape, const Bytes& pixels, int tolerance = 0) {
  const Image image = decoded(stream);
  ASSERT_EQ(image.shape, shape);
  for (size_t i = 0; i < pixels.size(); ++i) ASSERT_NEAR(image.pixels[i], pixels[i], tolerance) << "at byte " << i;
}

void expectNone(const Bytes& stream) { EXPECT_EQ(decoded(stream).shape, (Shape{0, 0, 3})); }

constexpr uint32_t kHeight = 9, kWidth = 13;
const Shape kShape{kHeight, kWidth, 3};

Bytes randomBytes(size_t count, unsigned seed = 7) {
  std::mt19937 engine(seed);
  Bytes bytes(count);
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(engine());
  return bytes;
}

/// `kept` of each `channels` samples.
Bytes without(const Bytes& samples, size_t channels, size_t kept) {
  Bytes result;
  for (size_t i = 0; i < samples.size(); ++i)
    if (i % channels < kept) result.push_back(samples[i]);
  return result;
}

/// Each sample three times.
Bytes gray(const Bytes& samples) {
  Bytes result;
  for (const uint8_t sample : samples) result.insert(result.end(), 3, sample);
  return result;
}

const Bytes kRgb = randomBytes(kHeight * kWidth * 3);
const Bytes kRgba = randomBytes(kHeight * kWidth * 4);
const Bytes kGray = randomBytes(kHeight * kWidth);
const Bytes kGrayAlpha = randomBytes(kHeight * kWidth * 2);

TEST(ImageDecoder, ReadsPng) {
  expectImage(encodePng(kHeight, kWidth, {}, kRgb), kShape, kRgb);
  expectImage(encodePng(kHeight, kWidth, {.interlace = PNG_INTERLACE_ADAM7}, kRgb), kShape, kRgb);
  expectImage(encodePng(kHeight, kWidth, {.type = PNG_COLOR_TYPE_RGBA}, kRgba), kShape, without(kRgba, 4, 3));
  expectImage(encodePng(kHeight, kWidth, {.type = PNG_COLOR_TYPE_GRAY}, kGray), kShape, gray(kGray));
  expectImage(encodePng(kHeight, kWidth, {.type = PNG_COLOR_TYPE_GRAY_ALPHA}, kGrayAlpha), kShape,
              gray(without(kGrayAlpha, 2, 1)));
}

TEST(ImageDecoder, ReadsPngOfOtherDepths) {
  const Bytes wide = randomBytes(kHeight * kWidth * 6);
  expectImage(encodePng(kHeight, kWidth, {.bits = 16}, wide), kShape, without(wide, 2, 1));
  expectImage(encodePng(kHeight, kWidth, {.bits = 16, .type = PNG_COLOR_TYPE_GRAY}, kGrayAlpha), kShape,
              gray(without(kGrayAlpha, 2, 1)));
  expectImage(encodePng(1, 3, {.bits = 1, .type = PNG_COLOR_TYPE_GRAY}, {0xA0}), {1, 3, 3}, gray({255, 0, 255}));
  expectImage(encodePng(1, 2, {.bits = 4, .type = PNG_COLOR_TYPE_GRAY}, {0x3F}), {1, 2, 3}, gray({51, 255}));
  const PngForm palette{.bits = 2, .type = PNG_COLOR_TYPE_PALETTE, .palette = {{1, 2, 3}, {4, 5, 6}, {7, 8, 9}}};
  expectImage(encodePng(1, 3, palette, {0x18}), {1, 3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9});
}

TEST(ImageDecoder, ReadsTiff) {
  for (const int compression : {COMPRESSION_NONE, COMPRESSION_LZW, COMPRESSION_ADOBE_DEFLATE, COMPRESSION_PACKBITS})
    expectImage(encodeTiff(kHeight, kWidth, {.compression = compression}, kRgb), kShape, kRgb);
  expectImage(encodeTiff(kHeight, kWidth, {.samples = 4, .hasAlpha = true}, kRgba), kShape, without(kRgba, 4, 3));
  expectImage(encodeTiff(kHeight, kWidth, {.samples = 1, .photometric = PHOTOMETRIC_MINISBLACK}, kGray), kShape,
              gray(kGray));
  expectImage(encodeTiff(kHeight, kWidth, {.orientation = ORIENTATION_BOTRIGHT}, kRgb), kShape, kRgb);
  const Bytes tile = randomBytes(16 * 16 * 3);
  expectImage(encodeTiff(16, 16, {.isTiled = true}, tile), {16, 16, 3}, tile);
}

TEST(ImageDecoder, ReadsTiffOfOtherDepthsAndColours) {
  const Bytes wide{0x34, 0x12, 0xFF, 0xFF};  // in this machine's order of bytes
  const TiffForm black{.samples = 1, .bits = 16, .photometric = PHOTOMETRIC_MINISBLACK};
  expectImage(encodeTiff(1, 2, black, wide), {1, 2, 3}, gray({0x12, 0xFF}));
  expectImage(encodeTiff(1, 3, {.samples = 1, .bits = 1, .photometric = PHOTOMETRIC_MINISWHITE}, {0xA0}), {1, 3, 3},
              gray({0, 255, 0}));
  expectImage(encodeTiff(1, 1, {.samples = 4, .photometric = PHOTOMETRIC_SEPARATED}, {0, 100, 255, 51}), {1, 1, 3},
              {204, 124, 0}, 1);
  TiffForm palette{.samples = 1, .bits = 4, .photometric = PHOTOMETRIC_PALETTE};
  for (unsigned i = 0; i < 48; ++i) palette.palette.push_back(static_cast<uint16_t>(257 * i));
  expectImage(encodeTiff(1, 2, palette, {0x2F}), {1, 2, 3}, {2, 18, 34, 15, 31, 47});
}

TEST(ImageDecoder, ReadsWebp) {
  expectImage(encodeWebp(kHeight, kWidth, 3, kRgb), kShape, kRgb);
  Bytes seen = kRgba;
  for (size_t i = 3; i < seen.size(); i += 4) seen[i] |= 1;  // the encoder forgets the colour of what nobody sees
  expectImage(encodeWebp(kHeight, kWidth, 4, seen), kShape, without(seen, 4, 3));
}

TEST(ImageDecoder, ReadsJpeg2000) {
  const std::vector<int32_t> rgb(kRgb.begin(), kRgb.end());
  expectImage(encodeJpeg2000(kHeight, kWidth, {}, rgb), kShape, kRgb);
  expectImage(encodeJpeg2000(kHeight, kWidth, {.codec = OPJ_CODEC_J2K}, rgb), kShape, kRgb);
  const std::vector<int32_t> luma(kGray.begin(), kGray.end());
  expectImage(encodeJpeg2000(kHeight, kWidth, {.components = 1, .space = OPJ_CLRSPC_GRAY}, luma), kShape, gray(kGray));
  const Jpeg2000Form wide{.components = 1, .bits = 12, .space = OPJ_CLRSPC_GRAY};
  expectImage(encodeJpeg2000(2, 2, wide, {0, 0xFFF, 0x123, 0xABC}), {2, 2, 3}, gray({0, 0xFF, 0x12, 0xAB}));
  const Jpeg2000Form chroma{.space = OPJ_CLRSPC_SYCC, .chromaStep = 2};
  const std::vector<int32_t> ycc{100, 128, 228, 150, 0, 0, 200, 0, 0, 250, 0, 0};
  expectImage(encodeJpeg2000(2, 2, chroma, ycc), {2, 2, 3}, {240, 29, 100, 255, 79, 150, 255, 129, 200, 255, 179, 250});
}

/// Slopes in both directions, which JPEG keeps within a few units.
Bytes slopes(size_t height, size_t width, size_t channels) {
  Bytes samples;
  for (size_t y = 0; y < height; ++y)
    for (size_t x = 0; x < width; ++x)
      for (size_t c = 0; c < channels; ++c) samples.push_back(static_cast<uint8_t>(40 + 3 * y + 2 * x + 20 * c));
  return samples;
}

TEST(ImageDecoder, ReadsJpeg) {
  const Bytes rgb = slopes(20, 30, 3), luma = slopes(20, 30, 1), inks = slopes(20, 30, 4);
  expectImage(encodeJpeg(20, 30, JCS_RGB, rgb), {20, 30, 3}, rgb, 4);
  expectImage(encodeJpeg(20, 30, JCS_GRAYSCALE, luma), {20, 30, 3}, gray(luma), 2);
  Bytes mixed;
  for (size_t i = 0; i < inks.size(); ++i)
    if (i % 4 < 3) mixed.push_back(static_cast<uint8_t>(inks[i] * inks[i / 4 * 4 + 3] / 255));
  expectImage(encodeJpeg(20, 30, JCS_CMYK, inks), {20, 30, 3}, mixed, 3);
}

/// Across a step of chroma between two samples the pixels are 3/4 and 1/4 of each.
TEST(ImageDecoder, InterpolatesChroma) {
  Bytes step;
  for (size_t y = 0; y < 16; ++y)
    for (size_t x = 0; x < 16; ++x)
      for (const int value : {x < 8 ? 90 : 150, 120, 120}) step.push_back(static_cast<uint8_t>(value));
  const Image whole = decoded(encodeJpeg(16, 16, JCS_RGB, step, 100, false));
  const Image half = decoded(encodeJpeg(16, 16, JCS_RGB, step, 100, true));
  const auto chroma = [](const Image& image, size_t x) {  // of row 4: red minus luma
    const uint8_t* pixel = &image.pixels[(4 * 16 + x) * 3];
    return pixel[0] - (0.299 * pixel[0] + 0.587 * pixel[1] + 0.114 * pixel[2]);
  };
  const double left = chroma(whole, 4), right = chroma(whole, 11);
  EXPECT_NEAR(chroma(half, 7), 0.75 * left + 0.25 * right, 3);
  EXPECT_NEAR(chroma(half, 8), 0.25 * left + 0.75 * right, 3);
}

TEST(ImageDecoder, ReadsPnm) {
  expectImage(bytesOf("P1\n# bits\n3 2\n0 1 0\n110"), {2, 3, 3}, gray({255, 0, 255, 0, 0, 255}));
  expectImage(bytesOf("P2 3 1 100 0 50 100"), {1, 3, 3}, gray({0, 128, 255}));
  expectImage(bytesOf("P3\n1 2 # extents\n255\n1 2 3\n4 5 6"), {2, 1, 3}, {1, 2, 3, 4, 5, 6});
  expectImage(bytesOf("P4\n3 2\n\x40\xC0"), {2, 3, 3}, gray({255, 0, 255, 0, 0, 255}));
  expectImage(bytesOf("P5 2 1 127\n\x40\x7F"), {1, 2, 3}, gray({129, 255}));
  expectImage(bytesOf("P6 1 1 65535\n\x01\x02\x80\x10\xFF\xFF"), {1, 1, 3}, {1, 128, 255});
  for (const char* broken :
       {"P1", "P2 2 1 255 1", "P2 2 1 0 1 1", "P2 -2 1 255 1 1", "P6 1 1 255\n12", "P6 1 1 255", "P3 1 1 255 1 x 2",
        "P3 50000 60000 255 1 2 3", "P7 1 1 255 1", "P1 2 1 0 2", "P2 99999999999999999999 1 255 1"})
    expectNone(bytesOf(broken));
}

const Bytes kPalette{3, 2, 1, 0, 6, 5, 4, 0, 9, 8, 7, 0, 12, 11, 10, 0};

TEST(ImageDecoder, ReadsBmp) {
  const Bytes rows{7, 8, 9, 10, 11, 12, 0, 0, 1, 2, 3, 4, 5, 6, 0, 0};  // blue, green, red
  expectImage(encodeBmp(2, 2, {}, rows), {2, 2, 3}, {3, 2, 1, 6, 5, 4, 9, 8, 7, 12, 11, 10});
  expectImage(encodeBmp(-2, 2, {}, rows), {2, 2, 3}, {9, 8, 7, 12, 11, 10, 3, 2, 1, 6, 5, 4});
  expectImage(encodeBmp(2, 2, {.headerSize = 12}, rows), {2, 2, 3}, {3, 2, 1, 6, 5, 4, 9, 8, 7, 12, 11, 10});
  expectImage(encodeBmp(1, 1, {.bits = 32}, {1, 2, 3, 0}), {1, 1, 3}, {3, 2, 1});
  expectImage(encodeBmp(1, 2, {.bits = 16}, {0x1F, 0x7C, 0xE0, 0x03}), {1, 2, 3}, {255, 0, 255, 0, 255, 0});
  const BmpForm masks{.bits = 16, .compression = 3, .masks = {0xF800, 0x7E0, 0x1F}};
  expectImage(encodeBmp(1, 2, masks, {0xE0, 0x07, 0x10, 0x80}), {1, 2, 3}, {0, 255, 0, 131, 0, 131});
}

TEST(ImageDecoder, ReadsBmpOfPalettes) {
  expectImage(encodeBmp(1, 3, {.bits = 8, .palette = kPalette}, {3, 0, 99, 0}), {1, 3, 3},
              {10, 11, 12, 1, 2, 3, 0, 0, 0});
  expectImage(encodeBmp(1, 3, {.bits = 4, .palette = kPalette}, {0x12, 0x30, 0, 0}), {1, 3, 3},
              {4, 5, 6, 7, 8, 9, 10, 11, 12});
  expectImage(encodeBmp(1, 3, {.bits = 1, .palette = kPalette}, {0x40, 0, 0, 0}), {1, 3, 3},
              {1, 2, 3, 4, 5, 6, 1, 2, 3});
  const Bytes runs{2, 1, 0, 0, 0, 3, 2, 3, 0, 0, 0, 1};  // two of 1; a row; 2, 3, 0 as they are; the end
  expectImage(encodeBmp(2, 3, {.bits = 8, .compression = 1, .palette = kPalette}, runs), {2, 3, 3},
              {7, 8, 9, 10, 11, 12, 1, 2, 3, 4, 5, 6, 4, 5, 6, 1, 2, 3});
  const Bytes halves{3, 0x12, 0, 0, 0, 2, 1, 0, 1, 0x30, 0, 1};  // 1, 2, 1; a row; a step of one; 3; the end
  expectImage(encodeBmp(2, 3, {.bits = 4, .compression = 2, .palette = kPalette}, halves), {2, 3, 3},
              {1, 2, 3, 10, 11, 12, 1, 2, 3, 4, 5, 6, 7, 8, 9, 4, 5, 6});
  expectNone(encodeBmp(2, 3, {.bits = 8, .compression = 1, .palette = kPalette}, {2, 1, 0, 0, 9}));
  expectNone(encodeBmp(1, 3, {.bits = 7}, {1, 2, 3, 4}));
  expectNone(encodeBmp(1, 3, {.bits = 24, .compression = 4}, randomBytes(12)));
}

TEST(ImageDecoder, GivesOtherPixelFormats) {
  const Bytes stream = bytesOf("P3 2 1 255 200 100 50 7 7 7");
  EXPECT_EQ(decoded(stream, PixelFormat::bgr).pixels, (Bytes{50, 100, 200, 7, 7, 7}));
  const Image one = decoded(stream, PixelFormat::grayscale);
  EXPECT_EQ(one.shape, (Shape{1, 2, 1}));
  EXPECT_EQ(one.pixels, (Bytes{124, 7})) << "(200 * 19595 + 100 * 38470 + 50 * 7471 + 2^15) / 2^16";
  EXPECT_EQ(decoded({}, PixelFormat::grayscale).shape, (Shape{0, 0, 1}));
}

std::vector<Bytes> streamsOfAllFormats() {
  const std::vector<int32_t> rgb(kRgb.begin(), kRgb.end());
  return {encodePng(kHeight, kWidth, {}, kRgb),
          encodePng(kHeight, kWidth, {.bits = 16, .interlace = PNG_INTERLACE_ADAM7}, randomBytes(kHeight * kWidth * 6)),
          encodeJpeg(kHeight, kWidth, JCS_RGB, kRgb),
          encodeJpeg(kHeight, kWidth, JCS_CMYK, kRgba),
          encodeTiff(kHeight, kWidth, {}, kRgb),
          encodeTiff(kHeight, kWidth, {.samples = 1, .bits = 4, .photometric = PHOTOMETRIC_MINISBLACK}, kGray),
          encodeWebp(kHeight, kWidth, 3, kRgb),
          encodeJpeg2000(kHeight, kWidth, {}, rgb),
          encodeJpeg2000(kHeight, kWidth, {.codec = OPJ_CODEC_J2K}, rgb),
          encodeBmp(kHeight, kWidth, {}, randomBytes(kHeight * 40)),
          encodeBmp(kHeight, kWidth, {.bits = 8, .compression = 1, .palette = Bytes(16)}, randomBytes(400)),
          bytesOf("P3 2 2 255 1 2 3 4 5 6 7 8 9 10 11 12"),
          bytesOf("P5 2 2 65535\n12345678")};
}

TEST(ImageDecoder, GivesNoImageForBrokenStreams) {
  for (const char* foreign : {"", "B", "GIF89a", "<svg/>", "push graphic-context", "%!PS", "RIFF1234WAVE", "II*"})
    expectNone(bytesOf(foreign));
  for (const Bytes& stream : streamsOfAllFormats()) {
    for (const size_t length : {size_t{3}, stream.size() / 4, stream.size() / 2}) {
      SCOPED_TRACE(std::to_string(stream[0]) + " cut at " + std::to_string(length));
      expectNone({stream.begin(), stream.begin() + static_cast<ptrdiff_t>(length)});
    }
  }
}

TEST(ImageDecoder, SurvivesEveryCutAndChangedBytes) {
  std::mt19937 engine(1);
  for (const Bytes& stream : streamsOfAllFormats()) {
    for (size_t length = 0; length < stream.size(); length += 1 + stream.size() / 300)
      (void)call(streamOf({stream.begin(), stream.begin() + static_cast<ptrdiff_t>(length)}));
    for (int i = 0; i < 200; ++i) {
      Bytes changed = stream;
      const size_t range = i % 2 == 0 ? changed.size() : std::min<size_t>(changed.size(), 80);
      for (int k = i % 5; k >= 0; --k) changed[engine() % range] = static_cast<uint8_t>(engine());
      (void)call(streamOf(changed));
    }
  }
}

TEST(ImageDecoder, RefusesWhatIsNoStreamOrTooLarge) {
  EXPECT_EQ(call(*Tensor::onHost({DType::UInt8, {2, 3}})).error().message(),
            "ImageDecoder: encoded_stream must be [length], got u8[2,3]");
  EXPECT_EQ(call(*Tensor::onHost({DType::Float32, {3}})).error().message(),
            "ImageDecoder: input 0 'encoded_stream' must be one of u8, got f32");
  const std::string tooLarge =
      "ImageDecoder: an image may have at most 1073741824 bytes of RGB, got 60000 x 50000 pixels";
  Bytes png = encodePng(60000, 50000, {}, {});
  std::ranges::copy(std::string_view("\0\0\0\0IDAT", 8), std::back_inserter(png));
  for (const Bytes& stream : {png, encodeBmp(60000, 50000, {.bits = 8, .compression = 1}, {})})
    EXPECT_EQ(call(streamOf(stream)).error().message(), tooLarge);
}

}  // namespace
}  // namespace opkit::ops::image_decoder
#endif
