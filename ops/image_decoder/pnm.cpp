// Portable pixmaps, P1 to P6: bits, grey, colours; as text or as bytes. Source: Netpbm's pages pbm(5), pgm(5), ppm(5).
#include <optional>

#include "ops/image_decoder/image_decoder.h"

namespace opkit::ops::image_decoder {
namespace {

bool isSpace(uint8_t byte) { return byte == ' ' || (byte >= '\t' && byte <= '\r'); }

class Pnm {
 public:
  explicit Pnm(Stream stream) : stream_(stream), kind_(stream[1] - '0') {}

  Result<Tensor> decode() {
    const auto width = number(), height = number();
    const std::optional<int64_t> most = isBits() ? 1 : number();
    if (!width || !height || !most || *width < 1 || *height < 1 || *most < 1 || *most > 65535) return noImage();
    most_ = *most;
    if (!isText() && (at_ >= stream_.size() || !isSpace(stream_[at_++]))) return noImage();
    if (*height > static_cast<int64_t>(stream_.size() - at_) / rowBytes(*width)) return noImage();
    OPKIT_ASSIGN(Tensor image, newImage(*height, *width));
    uint8_t* pixel = image.data<uint8_t>().data();
    for (int64_t y = 0; y < *height; ++y) {
      for (int64_t x = 0; x < *width; ++x, pixel += 3) {
        for (int64_t c = 0; c < samples(); ++c) {
          const std::optional<int64_t> value = sample(x);
          if (!value) return noImage();
          pixel[c] = scaled(*value);
        }
        if (samples() == 1) pixel[1] = pixel[2] = pixel[0];
      }
      if (kind_ == 4) at_ += static_cast<size_t>(rowBytes(*width));
    }
    return image;
  }

 private:
  bool isText() const { return kind_ <= 3; }
  bool isBits() const { return kind_ == 1 || kind_ == 4; }
  int64_t samples() const { return kind_ == 3 || kind_ == 6 ? 3 : 1; }
  int64_t sampleBytes() const { return most_ > 255 ? 2 : 1; }
  /// Of text the least: one character for each sample.
  int64_t rowBytes(int64_t width) const {
    if (kind_ == 4) return (width + 7) / 8;
    return width * samples() * (isText() ? 1 : sampleBytes());
  }

  /// Bit 1 is black. Samples beyond the largest count as the largest.
  uint8_t scaled(int64_t value) const {
    if (isBits()) return value ? 0 : 255;
    return static_cast<uint8_t>((std::min(value, most_) * 255 * 2 + most_) / (2 * most_));
  }

  std::optional<int64_t> sample(int64_t x) {
    if (kind_ == 1) return bitOfText();
    if (isText()) return number();
    if (kind_ == 4) return stream_[at_ + static_cast<size_t>(x / 8)] >> (7 - x % 8) & 1;
    int64_t value = stream_[at_++];
    if (sampleBytes() == 2) value = value << 8 | stream_[at_++];
    return value;
  }

  /// White space and comments to the end of the line.
  void skipSpace() {
    for (; at_ < stream_.size() && (isSpace(stream_[at_]) || stream_[at_] == '#'); ++at_)
      if (stream_[at_] == '#')
        while (at_ + 1 < stream_.size() && stream_[at_] != '\n') ++at_;
  }

  /// None if there is no number, or one above 2^31.
  std::optional<int64_t> number() {
    skipSpace();
    int64_t value = 0;
    const size_t begin = at_;
    for (; at_ < stream_.size() && stream_[at_] >= '0' && stream_[at_] <= '9'; ++at_) {
      value = value * 10 + (stream_[at_] - '0');
      if (value > int64_t{1} << 31) return std::nullopt;
    }
    return at_ > begin ? std::optional(value) : std::nullopt;
  }

  /// Bits need no space between them.
  std::optional<int64_t> bitOfText() {
    skipSpace();
    if (at_ == stream_.size() || (stream_[at_] != '0' && stream_[at_] != '1')) return std::nullopt;
    return stream_[at_++] - '0';
  }

  Stream stream_;
  int kind_;
  size_t at_ = 2;
  int64_t most_ = 1;
};

}  // namespace

Result<Tensor> decodePnm(Stream stream) { return Pnm(stream).decode(); }

}  // namespace opkit::ops::image_decoder
