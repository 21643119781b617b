// Encoders for tests of ImageDecoder: small images in memory, by the libraries that decode them and by hand.
#pragma once

#include <openjpeg.h>
#include <png.h>
#include <tiffio.h>
#include <webp/encode.h>

#include <unistd.h>

#include <cstdio>
// After cstdio, which it needs.
#include <jpeglib.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <string>
#include <vector>

#include "engine/base/check.h"

namespace opkit::ops::image_decoder {

using Bytes = std::vector<uint8_t>;

inline Bytes bytesOf(const std::string& text) { return {text.begin(), text.end()}; }

/// A file that is gone with its owner, for encoders that write none to memory.
class TemporaryFile {
 public:
  TemporaryFile() : path_(std::filesystem::temp_directory_path() / ("opkit_image_" + std::to_string(::getpid()))) {}
  ~TemporaryFile() { std::filesystem::remove(path_); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  const char* path() const { return path_.c_str(); }
  Bytes read() const {
    std::ifstream file(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

 private:
  std::filesystem::path path_;
};

struct PngForm {
  int bits = 8, type = PNG_COLOR_TYPE_RGB, interlace = PNG_INTERLACE_NONE;
  std::vector<png_color> palette;
};

/// `samples` are the rows as PNG stores them. Without samples the stream ends after the header.
inline Bytes encodePng(uint32_t height, uint32_t width, const PngForm& form, const Bytes& samples) {
  Bytes stream;
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
  png_infop info = png_create_info_struct(png);
  png_set_user_limits(png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
  png_set_write_fn(
      png, &stream,
      [](png_structp to, png_bytep data, size_t count) {
        auto& bytes = *static_cast<Bytes*>(png_get_io_ptr(to));
        bytes.insert(bytes.end(), data, data + count);
      },
      nullptr);
  png_set_IHDR(png, info, width, height, form.bits, form.type, form.interlace, PNG_COMPRESSION_TYPE_DEFAULT,
               PNG_FILTER_TYPE_DEFAULT);
  if (!form.palette.empty()) png_set_PLTE(png, info, form.palette.data(), static_cast<int>(form.palette.size()));
  png_write_info(png, info);
  if (!samples.empty()) {
    std::vector<png_bytep> rows;
    for (size_t y = 0; y < height; ++y)
      rows.push_back(const_cast<png_bytep>(samples.data() + y * png_get_rowbytes(png, info)));
    png_write_image(png, rows.data());
    png_write_end(png, info);
  }
  png_destroy_write_struct(&png, &info);
  return stream;
}

/// Chroma of RGB is halved in both directions unless `isSubsampled` is false.
inline Bytes encodeJpeg(uint32_t height, uint32_t width, J_COLOR_SPACE space, const Bytes& samples, int quality = 100,
                        bool isSubsampled = true) {
  jpeg_compress_struct jpeg{};
  jpeg_error_mgr errors{};
  jpeg.err = jpeg_std_error(&errors);
  jpeg_create_compress(&jpeg);
  uint8_t* stream = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&jpeg, &stream, &size);
  jpeg.image_height = height;
  jpeg.image_width = width;
  jpeg.input_components = space == JCS_GRAYSCALE ? 1 : space == JCS_CMYK ? 4 : 3;
  jpeg.in_color_space = space;
  jpeg_set_defaults(&jpeg);
  jpeg_set_quality(&jpeg, quality, TRUE);
  if (!isSubsampled) jpeg.comp_info[0].h_samp_factor = jpeg.comp_info[0].v_samp_factor = 1;
  jpeg_start_compress(&jpeg, TRUE);
  for (size_t y = 0; y < height; ++y) {
    auto* row = const_cast<JSAMPROW>(samples.data() + y * width * static_cast<size_t>(jpeg.input_components));
    jpeg_write_scanlines(&jpeg, &row, 1);
  }
  jpeg_finish_compress(&jpeg);
  jpeg_destroy_compress(&jpeg);
  Bytes result(stream, stream + size);
  std::free(stream);
  return result;
}

struct TiffForm {
  int samples = 3, bits = 8, photometric = PHOTOMETRIC_RGB, compression = COMPRESSION_LZW;
  int orientation = ORIENTATION_TOPLEFT;
  bool hasAlpha = false, isTiled = false;
  std::vector<uint16_t> palette;  // red, green, blue in turn, 2^bits of each
};

/// A tiled image must fit in one tile of 16 x 16 samples that the caller pads.
inline Bytes encodeTiff(uint32_t height, uint32_t width, const TiffForm& form, Bytes samples) {
  const TemporaryFile file;
  TIFF* tiff = TIFFOpen(file.path(), "w");
  TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, height);
  TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, width);
  TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, form.samples);
  TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, form.bits);
  TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, form.photometric);
  TIFFSetField(tiff, TIFFTAG_COMPRESSION, form.compression);
  TIFFSetField(tiff, TIFFTAG_ORIENTATION, form.orientation);
  TIFFSetField(tiff, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG);
  const uint16_t unassociated = EXTRASAMPLE_UNASSALPHA;
  if (form.hasAlpha) TIFFSetField(tiff, TIFFTAG_EXTRASAMPLES, 1, &unassociated);
  const size_t colours = form.palette.size() / 3;
  if (colours > 0)
    TIFFSetField(tiff, TIFFTAG_COLORMAP, form.palette.data(), form.palette.data() + colours,
                 form.palette.data() + 2 * colours);
  if (form.isTiled) {
    TIFFSetField(tiff, TIFFTAG_TILEWIDTH, 16);
    TIFFSetField(tiff, TIFFTAG_TILELENGTH, 16);
    TIFFWriteEncodedTile(tiff, 0, samples.data(), static_cast<tmsize_t>(samples.size()));
  } else {
    TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, height);
    TIFFWriteEncodedStrip(tiff, 0, samples.data(), static_cast<tmsize_t>(samples.size()));
  }
  TIFFClose(tiff);
  return file.read();
}

/// Without loss.
inline Bytes encodeWebp(int height, int width, int channels, const Bytes& samples) {
  uint8_t* stream = nullptr;
  const size_t size = channels == 4 ? WebPEncodeLosslessRGBA(samples.data(), width, height, 4 * width, &stream)
                                    : WebPEncodeLosslessRGB(samples.data(), width, height, 3 * width, &stream);
  Bytes result(stream, stream + size);
  WebPFree(stream);
  return result;
}

struct Jpeg2000Form {
  OPJ_CODEC_FORMAT codec = OPJ_CODEC_JP2;
  uint32_t components = 3, bits = 8;
  OPJ_COLOR_SPACE space = OPJ_CLRSPC_SRGB;
  uint32_t chromaStep = 1;  // of the components after the first
};

/// Without loss. `samples` are interleaved; of subsampled components the first of each block is taken.
inline Bytes encodeJpeg2000(uint32_t height, uint32_t width, const Jpeg2000Form& form,
                            const std::vector<int32_t>& samples) {
  opj_cparameters_t parameters;
  opj_set_default_encoder_parameters(&parameters);
  parameters.tcp_numlayers = 1;
  parameters.cp_disto_alloc = 1;
  parameters.numresolution = 2;
  std::vector<opj_image_cmptparm_t> parts(form.components);
  for (uint32_t c = 0; c < form.components; ++c) {
    opj_image_cmptparm_t& part = parts[c];
    part = {};
    part.dx = part.dy = c == 0 ? 1 : form.chromaStep;
    part.w = (width + part.dx - 1) / part.dx;
    part.h = (height + part.dy - 1) / part.dy;
    part.prec = form.bits;
  }
  opj_image_t* image = opj_image_create(form.components, parts.data(), form.space);
  image->x1 = width;
  image->y1 = height;
  for (uint32_t c = 0; c < form.components; ++c)
    for (uint32_t y = 0; y < parts[c].h; ++y)
      for (uint32_t x = 0; x < parts[c].w; ++x)
        image->comps[c].data[y * parts[c].w + x] =
            samples[(size_t{y} * parts[c].dy * width + size_t{x} * parts[c].dx) * form.components + c];
  const TemporaryFile file;
  opj_codec_t* codec = opj_create_compress(form.codec);
  opj_stream_t* stream = opj_stream_create_default_file_stream(file.path(), OPJ_FALSE);
  const bool isWritten = opj_setup_encoder(codec, &parameters, image) && opj_start_compress(codec, image, stream) &&
                         opj_encode(codec, stream) && opj_end_compress(codec, stream);
  OPKIT_CHECK(isWritten);
  opj_stream_destroy(stream);
  opj_destroy_codec(codec);
  opj_image_destroy(image);
  return file.read();
}

inline void append(Bytes& bytes, uint32_t value, int count) {
  for (int i = 0; i < count; ++i) bytes.push_back(static_cast<uint8_t>(value >> (8 * i)));
}

struct BmpForm {
  uint32_t bits = 24, compression = 0, headerSize = 40;
  Bytes palette;  // blue, green, red and, but for headers of 12 bytes, 0
  std::vector<uint32_t> masks;
};

/// `data` are the rows as BMP stores them: the last first unless the height is negative, padded to 4 bytes.
inline Bytes encodeBmp(int height, int width, const BmpForm& form, const Bytes& data) {
  Bytes bytes = bytesOf("BM");
  const auto extra = static_cast<uint32_t>(form.palette.size() + 4 * form.masks.size());
  for (const uint32_t value : {0u, 0u, 14 + form.headerSize + extra, form.headerSize}) append(bytes, value, 4);
  const int extentBytes = form.headerSize == 12 ? 2 : 4;
  append(bytes, static_cast<uint32_t>(width), extentBytes);
  append(bytes, static_cast<uint32_t>(height), extentBytes);
  append(bytes, 1, 2);
  append(bytes, form.bits, 2);
  if (form.headerSize > 12) append(bytes, form.compression, 4);
  bytes.resize(14 + form.headerSize);
  for (const uint32_t mask : form.masks) append(bytes, mask, 4);
  bytes.insert(bytes.end(), form.palette.begin(), form.palette.end());
  bytes.insert(bytes.end(), data.begin(), data.end());
  return bytes;
}

}  // namespace opkit::ops::image_decoder
