// TIFF by libtiff: the first image of the file, with every compression and colour model of libtiff's RGBA interface.
// The orientation that the file states is not applied.
#include <tiffio.h>

#include <cstring>

#include "ops/image_decoder/image_decoder.h"

namespace opkit::ops::image_decoder {
namespace {

struct Source {
  Stream stream;
  size_t at = 0;
};

Source& sourceOf(thandle_t handle) { return *static_cast<Source*>(handle); }

tmsize_t readFrom(thandle_t handle, void* to, tmsize_t count) {
  Source& source = sourceOf(handle);
  const size_t left = source.stream.size() - std::min(source.at, source.stream.size());
  const size_t taken = std::min(left, static_cast<size_t>(count));
  if (taken > 0) std::memcpy(to, source.stream.data() + source.at, taken);
  source.at += taken;
  return static_cast<tmsize_t>(taken);
}

toff_t seekTo(thandle_t handle, toff_t offset, int whence) {
  Source& source = sourceOf(handle);
  const toff_t base = whence == SEEK_CUR ? source.at : whence == SEEK_END ? source.stream.size() : 0;
  return source.at = base + offset;
}

struct Close {
  void operator()(TIFF* tiff) const { TIFFClose(tiff); }
};

std::unique_ptr<TIFF, Close> open(Source& source) {
  const auto beSilent = [](TIFF*, void*, const char*, const char*, va_list) { return 1; };
  TIFFOpenOptions* options = TIFFOpenOptionsAlloc();
  TIFFOpenOptionsSetErrorHandlerExtR(options, beSilent, nullptr);
  TIFFOpenOptionsSetWarningHandlerExtR(options, beSilent, nullptr);
  std::unique_ptr<TIFF, Close> tiff(TIFFClientOpenExt(
      "stream", "rm", &source, readFrom, [](thandle_t, void*, tmsize_t) -> tmsize_t { return -1; }, seekTo,
      [](thandle_t) { return 0; }, [](thandle_t handle) -> toff_t { return sourceOf(handle).stream.size(); }, nullptr,
      nullptr, options));
  TIFFOpenOptionsFree(options);
  return tiff;
}

/// libtiff multiplies colours with an alpha that is not yet in them. Declared as associated it is left alone.
void keepColours(TIFF* tiff) {
  uint16_t count = 0, *kinds = nullptr;
  if (!TIFFGetField(tiff, TIFFTAG_EXTRASAMPLES, &count, &kinds) || count == 0) return;
  std::vector<uint16_t> associated(count, EXTRASAMPLE_ASSOCALPHA);
  TIFFSetField(tiff, TIFFTAG_EXTRASAMPLES, static_cast<int>(count), associated.data());
}

}  // namespace

Result<Tensor> decodeTiff(Stream stream) {
  Source source{stream};
  const std::unique_ptr<TIFF, Close> tiff = open(source);
  uint32_t width = 0, height = 0;
  if (!tiff || !TIFFGetField(tiff.get(), TIFFTAG_IMAGEWIDTH, &width) ||
      !TIFFGetField(tiff.get(), TIFFTAG_IMAGELENGTH, &height) || width == 0 || height == 0)
    return noImage();
  OPKIT_ASSIGN(Tensor image, newImage(height, width));
  OPKIT_ASSIGN(const Tensor rgba, Tensor::onHost({DType::UInt32, {height, width}}));
  keepColours(tiff.get());
  uint16_t orientation = ORIENTATION_TOPLEFT;
  TIFFGetFieldDefaulted(tiff.get(), TIFFTAG_ORIENTATION, &orientation);
  if (!TIFFReadRGBAImageOriented(tiff.get(), width, height, rgba.data<uint32_t>().data(), orientation, 1))
    return noImage();
  uint8_t* pixel = image.data<uint8_t>().data();
  for (const uint32_t packed : rgba.data<uint32_t>()) {
    *pixel++ = static_cast<uint8_t>(TIFFGetR(packed));
    *pixel++ = static_cast<uint8_t>(TIFFGetG(packed));
    *pixel++ = static_cast<uint8_t>(TIFFGetB(packed));
  }
  return image;
}

}  // namespace opkit::ops::image_decoder
