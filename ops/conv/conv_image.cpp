#include "ops/conv/conv_image.h"

#include <algorithm>

namespace opkit::ops::conv {

PaddedImage::PaddedImage(const std::vector<WindowAxis>& axes) : height_(axes[0]), width_(axes[1]) {
  // A kernel of one row (column) never reads between the strides: nothing else is stored.
  rowStep_ = height_.kernel == 1 ? height_.stride : 1;
  rowsPerOutput_ = height_.kernel == 1 ? 1 : height_.stride;
  rows_ = (height_.output - 1) * rowsPerOutput_ + (height_.kernel - 1) * height_.dilation + 1;
  groups_ = width_.kernel == 1 ? 1 : width_.stride;
  groupFloats_ = width_.output + (width_.kernel - 1) * width_.dilation / width_.stride;
  rowFloats_ = groups_ * groupFloats_;
}

int64_t PaddedImage::tapOffset(int64_t ky, int64_t kx) const {
  const int64_t x = kx * width_.dilation;
  return ky * height_.dilation * rowFloats_ + x % width_.stride * groupFloats_ + x / width_.stride;
}

void PaddedImage::fill(const float* channel, float* plane) const {
  for (int64_t r = 0; r < rows_; ++r, plane += rowFloats_) {
    const int64_t y = r * rowStep_ - height_.padBegin;
    if (y < 0 || y >= height_.input)
      std::fill_n(plane, rowFloats_, 0.0f);
    else
      fillRow(channel + y * width_.input, plane);
  }
}

void PaddedImage::fillRow(const float* row, float* target) const {
  const int64_t step = width_.stride;
  for (int64_t group = 0; group < groups_; ++group, target += groupFloats_) {
    const int64_t first = group - width_.padBegin;  // input column of the group's first float
    // Floats [begin, end) of the group lie inside the input.
    const int64_t begin = std::min(first < 0 ? (-first + step - 1) / step : 0, groupFloats_);
    const int64_t inside = width_.input - first;
    const int64_t end = std::clamp(inside > 0 ? (inside + step - 1) / step : 0, begin, groupFloats_);
    std::fill_n(target, begin, 0.0f);
    if (step == 1)
      std::copy(row + first + begin, row + first + end, target + begin);
    else
      for (int64_t i = begin; i < end; ++i) target[i] = row[first + i * step];
    std::fill(target + end, target + groupFloats_, 0.0f);
  }
}

}  // namespace opkit::ops::conv
