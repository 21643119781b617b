// PaddedVolume: the planes of one channel with the padding written out, for convolutions that gather runs of
// neighbours.
#pragma once

#include <algorithm>
#include <vector>

#include "ops/conv/conv_image_vectors.h"

namespace opkit::ops::conv {

class PaddedVolume {
 public:
  PaddedVolume() = default;
  /// `axes`: 1 to 3 spatial axes.
  explicit PaddedVolume(const std::vector<WindowAxis>& axes) {
    const std::vector<WindowAxis> three = padWindowRank(axes, 3);
    deep_ = three[0];
    axes_ = {three[1], three[2]};
    image_ = PaddedImage(axes_);
    planes_ = std::max<int64_t>(deep_.output - 1, 0) * deep_.stride + (deep_.kernel - 1) * deep_.dilation + 1;
  }

  const WindowAxis& deep() const { return deep_; }               // 1 output of 1 tap if there are fewer than three axes
  const std::vector<WindowAxis>& axes() const { return axes_; }  // height, width
  int64_t planes() const { return planes_; }                     // that the outputs read, padding included
  /// Of one plane.
  const PaddedImage& image() const { return image_; }
  /// Between the elements that one tap reads for neighbouring rows of outputs.
  int64_t outputRowStride() const { return image_.outputRowStride(); }
  /// Between the first elements that planes z and z + 1 of outputs read.
  int64_t depthStep() const { return deep_.stride * image_.planeElements(); }
  /// Elements of the padded planes of one channel.
  int64_t channelElements() const { return planes_ * image_.planeElements(); }

  /// Of all taps of output (0, 0, 0).
  std::vector<int64_t> tapOffsets() const {
    std::vector<int64_t> offsets;
    for (int64_t z = 0; z < deep_.kernel; ++z)
      for (int64_t y = 0; y < axes_[0].kernel; ++y)
        for (int64_t x = 0; x < axes_[1].kernel; ++x)
          offsets.push_back(z * deep_.dilation * image_.planeElements() + image_.tapOffset(y, x));
    return offsets;
  }

  /// Writes the planes from a channel [depth, height, width] of float or uint8_t.
  template <class T>
  void fill(const T* channel, T padding, T* to) const {
    fillPart(channel, padding, to, 0, 1);
  }
  /// Of each plane, the rows of part `part` of `parts`.
  template <class T>
  void fillPart(const T* channel, T padding, T* to, int64_t part, int64_t parts) const {
    const int64_t plane = axes_[0].input * axes_[1].input;
    const int64_t begin = image_.rows() * part / parts, end = image_.rows() * (part + 1) / parts;
    for (int64_t z = 0; z < planes_; ++z, to += image_.planeElements()) {
      const int64_t from = z - deep_.padBegin;
      if (from < 0 || from >= deep_.input)
        std::fill_n(to + begin * image_.rowElements(), (end - begin) * image_.rowElements(), padding);
      else
        image_.fill(channel + from * plane, padding, begin, end, to + begin * image_.rowElements());
    }
  }

 private:
  WindowAxis deep_{};
  std::vector<WindowAxis> axes_;
  PaddedImage image_;  // of one plane
  int64_t planes_ = 1;
};

}  // namespace opkit::ops::conv
