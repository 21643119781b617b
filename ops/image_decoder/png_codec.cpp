// PNG by libpng. Samples of 16 bits keep their upper 8; gamma and colour profiles are not applied.
#include <png.h>

#include <cstring>

#include "ops/image_decoder/image_decoder.h"
#include "ops/image_decoder/rescue.h"

namespace opkit::ops::image_decoder {
namespace {

class Png {
 public:
  explicit Png(Stream stream) : rest_(stream) {}
  ~Png() { png_destroy_read_struct(&png_, &info_, nullptr); }
  Png(const Png&) = delete;
  Png& operator=(const Png&) = delete;

  Result<Tensor> decode() {
    if (!rescue_.completes([this] { readHeader(); })) return noImage();
    const int64_t height = png_get_image_height(png_, info_), width = png_get_image_width(png_, info_);
    OPKIT_ASSIGN(Tensor image, newImage(height, width));
    for (int64_t y = 0; y < height; ++y) rows_.push_back(image.data<uint8_t>().data() + y * width * 3);
    if (!rescue_.completes([this] { png_read_image(png_, rows_.data()); })) return noImage();
    return image;
  }

 private:
  void readHeader() {
    const auto fail = [](png_structp png, png_const_charp) {
      static_cast<Png*>(png_get_error_ptr(png))->rescue_.giveUp();
    };
    png_ = png_create_read_struct(PNG_LIBPNG_VER_STRING, this, fail, [](png_structp, png_const_charp) {});
    if (png_) info_ = png_create_info_struct(png_);
    if (!info_) rescue_.giveUp();
    png_set_read_fn(png_, this, [](png_structp png, png_bytep to, size_t count) {
      Stream& rest = static_cast<Png*>(png_get_io_ptr(png))->rest_;
      if (count > rest.size()) png_error(png, "the stream is cut");
      std::memcpy(to, rest.data(), count);
      rest = rest.subspan(count);
    });
    png_set_user_limits(png_, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
    png_read_info(png_, info_);
    const int type = png_get_color_type(png_, info_);
    if (type == PNG_COLOR_TYPE_PALETTE) png_set_palette_to_rgb(png_);
    if (type == PNG_COLOR_TYPE_GRAY) png_set_expand_gray_1_2_4_to_8(png_);
    if ((type & PNG_COLOR_MASK_COLOR) == 0) png_set_gray_to_rgb(png_);
    png_set_strip_16(png_);
    png_set_strip_alpha(png_);
    png_set_interlace_handling(png_);
    png_read_update_info(png_, info_);
    if (png_get_rowbytes(png_, info_) != size_t{3} * png_get_image_width(png_, info_)) rescue_.giveUp();
  }

  Stream rest_;
  Rescue rescue_;
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
  std::vector<png_bytep> rows_;
};

}  // namespace

Result<Tensor> decodePng(Stream stream) { return Png(stream).decode(); }

}  // namespace opkit::ops::image_decoder
