// JPEG 2000 by OpenJPEG: files (JP2) and bare codestreams, of grey, RGB and YCbCr with or without alpha.
#include <openjpeg.h>

#include <cmath>
#include <cstring>

#include "ops/image_decoder/image_decoder.h"

namespace opkit::ops::image_decoder {
namespace {

struct Source {
  Stream stream;
  size_t at = 0;
};

OPJ_SIZE_T readFrom(void* to, OPJ_SIZE_T count, void* user) {
  auto& source = *static_cast<Source*>(user);
  const size_t taken = std::min<size_t>(count, source.stream.size() - source.at);
  if (taken == 0) return static_cast<OPJ_SIZE_T>(-1);
  std::memcpy(to, source.stream.data() + source.at, taken);
  source.at += taken;
  return taken;
}

OPJ_BOOL seekTo(OPJ_OFF_T place, void* user) {
  auto& source = *static_cast<Source*>(user);
  if (place < 0 || static_cast<size_t>(place) > source.stream.size()) return OPJ_FALSE;
  source.at = static_cast<size_t>(place);
  return OPJ_TRUE;
}

OPJ_OFF_T skipOver(OPJ_OFF_T count, void* user) {
  return seekTo(static_cast<OPJ_OFF_T>(static_cast<Source*>(user)->at) + count, user) ? count : -1;
}

class Jpeg2000 {
 public:
  explicit Jpeg2000(Stream stream)
      : source_{stream},
        stream_(opj_stream_default_create(OPJ_TRUE)),
        codec_(opj_create_decompress(stream[0] == 0xFF ? OPJ_CODEC_J2K : OPJ_CODEC_JP2)) {
    opj_stream_set_user_data(stream_, &source_, nullptr);
    opj_stream_set_user_data_length(stream_, stream.size());
    opj_stream_set_read_function(stream_, readFrom);
    opj_stream_set_seek_function(stream_, seekTo);
    opj_stream_set_skip_function(stream_, skipOver);
  }
  ~Jpeg2000() {
    opj_stream_destroy(stream_);
    opj_destroy_codec(codec_);
    opj_image_destroy(image_);
  }
  Jpeg2000(const Jpeg2000&) = delete;
  Jpeg2000& operator=(const Jpeg2000&) = delete;

  Result<Tensor> decode() {
    opj_dparameters_t parameters;
    opj_set_default_decoder_parameters(&parameters);
    if (!opj_setup_decoder(codec_, &parameters) || !opj_read_header(stream_, codec_, &image_) ||
        image_->x1 <= image_->x0 || image_->y1 <= image_->y0)
      return noImage();
    OPKIT_TRY(checkExtents(image_->y1 - image_->y0, image_->x1 - image_->x0));
    if (!opj_decode(codec_, stream_, image_) || !opj_end_decompress(codec_, stream_) || !isKnown()) return noImage();
    height_ = image_->comps[0].h;
    width_ = image_->comps[0].w;
    OPKIT_ASSIGN(Tensor image, newImage(height_, width_));
    fill(image.data<uint8_t>().data());
    return image;
  }

 private:
  bool isKnown() const {
    for (OPJ_UINT32 c = 0; c < image_->numcomps; ++c) {
      const opj_image_comp_t& part = image_->comps[c];
      if (!part.data || part.w == 0 || part.h == 0 || part.prec == 0 || part.prec > 31) return false;
    }
    return image_->numcomps > 0;
  }

  /// Component `c` at a pixel of component 0, as 8 bits. A subsampled component repeats its samples.
  uint8_t sample(size_t c, int64_t y, int64_t x) const {
    const opj_image_comp_t& part = image_->comps[c];
    const int64_t row = y * part.h / height_, column = x * part.w / width_;
    int64_t value = part.data[row * part.w + column];
    if (part.sgnd) value += int64_t{1} << (part.prec - 1);
    const int64_t most = (int64_t{1} << part.prec) - 1;
    value = std::clamp<int64_t>(value, 0, most);
    return static_cast<uint8_t>(part.prec > 8 ? value >> (part.prec - 8) : value * 255 / most);
  }

  void fill(uint8_t* pixel) const {
    const bool isGrey = image_->numcomps < 3;
    for (int64_t y = 0; y < height_; ++y) {
      for (int64_t x = 0; x < width_; ++x, pixel += 3) {
        for (size_t c = 0; c < 3; ++c) pixel[c] = sample(isGrey ? 0 : c, y, x);
        if (image_->color_space == OPJ_CLRSPC_SYCC && !isGrey) convertFromYcc(pixel);
      }
    }
  }

  /// JFIF's matrix.
  static void convertFromYcc(uint8_t* pixel) {
    const double luma = pixel[0], blue = pixel[1] - 128.0, red = pixel[2] - 128.0;
    const double values[] = {luma + 1.402 * red, luma - 0.344136 * blue - 0.714136 * red, luma + 1.772 * blue};
    for (size_t c = 0; c < 3; ++c) pixel[c] = static_cast<uint8_t>(std::lround(std::clamp(values[c], 0.0, 255.0)));
  }

  Source source_;
  opj_stream_t* stream_;
  opj_codec_t* codec_;
  opj_image_t* image_ = nullptr;
  int64_t height_ = 0, width_ = 0;
};

}  // namespace

Result<Tensor> decodeJpeg2000(Stream stream) { return Jpeg2000(stream).decode(); }

}  // namespace opkit::ops::image_decoder
