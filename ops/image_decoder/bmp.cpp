// BMP: 1 to 32 bits a pixel, palettes, run lengths, masks, rows from either end. Source: Microsoft's page "Bitmap
// Storage".
#include <algorithm>
#include <array>
#include <bit>

#include "ops/image_decoder/image_decoder.h"

namespace opkit::ops::image_decoder {
namespace {

enum Compression : uint32_t { kNone = 0, kRuns8 = 1, kRuns4 = 2, kMasks = 3, kMasksWithAlpha = 6 };

struct Header {
  uint32_t size, offset, compression = kNone;
  int64_t width, height;
  uint32_t bits;
  bool isTopDown = false;
  std::array<uint32_t, 3> masks{};  // of red, green, blue
};

class Bmp {
 public:
  explicit Bmp(Stream stream) : stream_(stream) {}

  Result<Tensor> decode() {
    if (!readHeader()) return noImage();
    const bool hasRuns = header_.compression == kRuns8 || header_.compression == kRuns4;
    if (!hasRuns && header_.height > static_cast<int64_t>(stream_.size() - header_.offset) / stride()) return noImage();
    OPKIT_ASSIGN(Tensor image, newImage(header_.height, header_.width));
    rgb_ = image.data<uint8_t>().data();
    if (header_.bits <= 8) readPalette();
    if (!hasRuns)
      readRows();
    else if (!readRuns())
      return noImage();
    return image;
  }

 private:
  /// A little-endian number; 0 beyond the end.
  uint32_t number(size_t at, size_t bytes) const {
    uint32_t value = 0;
    for (size_t i = 0; i < bytes && at + i < stream_.size(); ++i)
      value |= static_cast<uint32_t>(stream_[at + i]) << (8 * i);
    return value;
  }

  bool readHeader() {
    header_.offset = number(10, 4);
    header_.size = number(14, 4);
    if (header_.size == 12) {
      header_.width = number(18, 2);
      header_.height = number(20, 2);
      header_.bits = number(24, 2);
    } else if (header_.size >= 40 && header_.size <= 124) {
      header_.width = static_cast<int32_t>(number(18, 4));
      const int64_t height = static_cast<int32_t>(number(22, 4));
      header_.isTopDown = height < 0;
      header_.height = std::abs(height);
      header_.bits = number(28, 2);
      header_.compression = number(30, 4);
    }
    return header_.width > 0 && header_.height > 0 && header_.offset <= stream_.size() && findsMasks();
  }

  /// False if the compression does not suit the bits.
  bool findsMasks() {
    const uint32_t bits = header_.bits;
    const bool hasPalette = bits == 1 || bits == 2 || bits == 4 || bits == 8;
    if (header_.compression == kNone) {
      if (bits == 16) header_.masks = {0x7C00, 0x3E0, 0x1F};
      if (bits == 32) header_.masks = {0xFF0000, 0xFF00, 0xFF};
      return hasPalette || bits == 16 || bits == 24 || bits == 32;
    }
    if (header_.compression == kRuns8) return bits == 8;
    if (header_.compression == kRuns4) return bits == 4;
    for (size_t c = 0; c < 3; ++c) header_.masks[c] = number(54 + 4 * c, 4);
    return (header_.compression == kMasks || header_.compression == kMasksWithAlpha) && (bits == 16 || bits == 32);
  }

  /// Rows are padded to 4 bytes.
  int64_t stride() const { return (header_.width * header_.bits + 31) / 32 * 4; }

  /// `y` counts from the first row of the stream.
  uint8_t* pixelAt(int64_t x, int64_t y) const {
    return rgb_ + ((header_.isTopDown ? y : header_.height - 1 - y) * header_.width + x) * 3;
  }

  /// Colours beyond the palette are black.
  void readPalette() {
    const size_t entry = header_.size == 12 ? 3 : 4;
    for (size_t i = 0, place = 14 + header_.size; i < palette_.size() && place + 3 <= header_.offset;
         ++i, place += entry)
      for (size_t c = 0; c < 3; ++c) palette_[i][c] = static_cast<uint8_t>(number(place + 2 - c, 1));
  }

  void setIndexed(uint8_t* pixel, uint32_t index) const { std::ranges::copy(palette_[index], pixel); }

  void setMasked(uint8_t* pixel, uint32_t value) const {
    for (size_t c = 0; c < 3; ++c) {
      const uint32_t mask = header_.masks[c];
      const int shift = std::countr_zero(mask);
      pixel[c] = mask ? static_cast<uint8_t>(uint64_t{(value & mask) >> shift} * 255 / (mask >> shift)) : 0;
    }
  }

  void readRows() const {
    const uint32_t bits = header_.bits;
    for (int64_t y = 0; y < header_.height; ++y) {
      const size_t row = header_.offset + static_cast<size_t>(y * stride());
      for (int64_t x = 0; x < header_.width; ++x) {
        const size_t at = row + static_cast<size_t>(x * bits / 8);
        uint8_t* pixel = pixelAt(x, y);
        if (bits <= 8)
          setIndexed(pixel, number(at, 1) >> (8 - bits - x * bits % 8) & ((1u << bits) - 1));
        else if (bits == 24)
          for (size_t c = 0; c < 3; ++c) pixel[c] = stream_[at + 2 - c];
        else
          setMasked(pixel, number(at, bits / 8));
      }
    }
  }

  /// Pixels that no run reaches have colour 0. False if the stream ends before the image.
  bool readRuns() const {
    if (palette_[0] != std::array<uint8_t, 3>{})
      for (int64_t i = 0; i < header_.width * header_.height; ++i) setIndexed(rgb_ + 3 * i, 0);
    const size_t perByte = 8 / header_.bits;
    int64_t x = 0, y = 0;
    const auto put = [&](uint32_t byte, size_t i) {
      const uint32_t index = perByte == 1 ? byte : i % 2 == 0 ? byte >> 4 : byte & 15;
      if (x < header_.width) setIndexed(pixelAt(x, y), index);
      ++x;
    };
    for (size_t at = header_.offset; y < header_.height;) {
      if (at + 2 > stream_.size()) return y == header_.height - 1 && x >= header_.width;
      const uint32_t count = stream_[at], value = stream_[at + 1];
      at += 2;
      if (count > 0) {
        for (size_t i = 0; i < count; ++i) put(value, i);
      } else if (value == 0) {  // the next row
        x = 0;
        ++y;
      } else if (value == 1) {  // the end
        return true;
      } else if (value == 2) {  // a step
        x += number(at, 1);
        y += number(at + 1, 1);
        at += 2;
      } else {
        for (size_t i = 0; i < value; ++i) put(number(at + i / perByte, 1), i);
        at += ((value + perByte - 1) / perByte + 1) / 2 * 2;
      }
    }
    return true;
  }

  Stream stream_;
  Header header_{};
  std::array<std::array<uint8_t, 3>, 256> palette_{};  // red, green, blue
  uint8_t* rgb_ = nullptr;
};

}  // namespace

Result<Tensor> decodeBmp(Stream stream) { return Bmp(stream).decode(); }

}  // namespace opkit::ops::image_decoder
