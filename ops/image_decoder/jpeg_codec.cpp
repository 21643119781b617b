// JPEG by libjpeg, with its defaults: the integer transform and smooth upsampling of chroma. The orientation that EXIF
// states is not applied.
#include <cstdio>
// After cstdio, which it needs.
#include <jerror.h>
#include <jpeglib.h>

#include "ops/image_decoder/image_decoder.h"
#include "ops/image_decoder/rescue.h"

namespace opkit::ops::image_decoder {
namespace {

class Jpeg {
 public:
  explicit Jpeg(Stream stream) : stream_(stream) {
    jpeg_.err = jpeg_std_error(&errors_);
    jpeg_.client_data = this;
    errors_.error_exit = [](j_common_ptr jpeg) { static_cast<Jpeg*>(jpeg->client_data)->rescue_.giveUp(); };
    errors_.emit_message = [](j_common_ptr jpeg, int level) {
      if (level < 0 && jpeg->err->msg_code == JWRN_JPEG_EOF) jpeg->err->error_exit(jpeg);
    };
  }
  ~Jpeg() { jpeg_destroy_decompress(&jpeg_); }
  Jpeg(const Jpeg&) = delete;
  Jpeg& operator=(const Jpeg&) = delete;

  Result<Tensor> decode() {
    if (!rescue_.completes([this] { readHeader(); })) return noImage();
    OPKIT_ASSIGN(Tensor image, newImage(jpeg_.image_height, jpeg_.image_width));
    row_.resize(isCmyk() ? size_t{4} * jpeg_.image_width : 0);
    rgb_ = image.data<uint8_t>().data();
    if (!rescue_.completes([this] { readRows(); })) return noImage();
    return image;
  }

 private:
  bool isCmyk() const { return jpeg_.out_color_space == JCS_CMYK; }

  void readHeader() {
    jpeg_create_decompress(&jpeg_);
    jpeg_mem_src(&jpeg_, stream_.data(), stream_.size());
    jpeg_read_header(&jpeg_, TRUE);
    const bool hasBlack = jpeg_.jpeg_color_space == JCS_CMYK || jpeg_.jpeg_color_space == JCS_YCCK;
    jpeg_.out_color_space = hasBlack ? JCS_CMYK : JCS_RGB;
  }

  void readRows() {
    jpeg_start_decompress(&jpeg_);
    for (; jpeg_.output_scanline < jpeg_.output_height; rgb_ += size_t{3} * jpeg_.output_width) {
      JSAMPROW row = isCmyk() ? row_.data() : rgb_;
      jpeg_read_scanlines(&jpeg_, &row, 1);
      if (isCmyk()) convertRow();
    }
  }

  /// Inverted inks, as Adobe's programs write them; PIL reads every file so.
  void convertRow() const {
    for (size_t i = 0; i < size_t{3} * jpeg_.output_width; ++i) {
      const unsigned light = row_[i / 3 * 4 + 3], ink = 255u - row_[i / 3 * 4 + i % 3];
      const unsigned product = ink * light + 128;
      rgb_[i] = static_cast<uint8_t>(light - (((product >> 8) + product) >> 8));
    }
  }

  Stream stream_;
  Rescue rescue_;
  jpeg_error_mgr errors_{};
  jpeg_decompress_struct jpeg_{};
  std::vector<uint8_t> row_;
  uint8_t* rgb_ = nullptr;
};

}  // namespace

Result<Tensor> decodeJpeg(Stream stream) { return Jpeg(stream).decode(); }

}  // namespace opkit::ops::image_decoder
