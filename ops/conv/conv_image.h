// PaddedImage: one image laid out so that every tap of a convolution reads runs of neighbouring floats.
//
// Each channel is a plane of rows with the padding written out as zeros. With a horizontal stride s the
// columns of a row are dealt into s groups (column x goes to group x % s), so output columns that follow each
// other read floats that follow each other, whatever the stride. 2-D; 1-D is one row.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/op/window.h"

namespace opkit::ops::conv {

class PaddedImage {
 public:
  PaddedImage() = default;
  /// `axes`: height and width.
  explicit PaddedImage(const std::vector<WindowAxis>& axes);

  int64_t planeFloats() const { return rows_ * rowFloats_; }
  /// Where tap (ky, kx) of output (0, 0) stands in a plane.
  int64_t tapOffset(int64_t ky, int64_t kx) const;
  /// Distance between the elements that one tap reads for output (y, x) and (y + 1, x). For x + 1 it is 1.
  int64_t outputRowStride() const { return rowsPerOutput_ * rowFloats_; }
  /// Writes a plane from a channel [height, width].
  void fill(const float* channel, float* plane) const;

 private:
  void fillRow(const float* row, float* target) const;

  WindowAxis height_{};
  WindowAxis width_{};
  int64_t rows_ = 0;
  int64_t rowStep_ = 1;        // input rows between stored rows
  int64_t rowsPerOutput_ = 1;  // stored rows between output rows
  int64_t groups_ = 1;         // column groups
  int64_t groupFloats_ = 0;
  int64_t rowFloats_ = 0;
};

}  // namespace opkit::ops::conv
