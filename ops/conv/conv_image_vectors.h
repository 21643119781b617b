// PaddedImage: one image of floats or bytes stored so that every tap of a convolution reads runs of contiguous
// elements.
//
// Each channel is a plane of rows with the padding written out. With a horizontal stride s the columns of a
// row are split into s groups (column x goes to group x % s), so consecutive output columns read consecutive elements
// at any stride. 2-D; 1-D is one row.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/op/window.h"

namespace opkit::ops::conv {

/// Mapping of a channel to a plane, read by the kernels that fill planes.
struct PlaneLayout {
  /// Elements [begin, end) of a group are input columns source, source + step, ...; the others are padding.
  struct ColumnGroup {
    int64_t begin;
    int64_t end;
    int64_t source;
  };
  int64_t rows = 0;
  int64_t rowElements = 0;
  int64_t rowStep = 1;  // input rows between stored rows
  int64_t padTop = 0;
  int64_t height = 0;  // of the input
  int64_t width = 0;
  int64_t step = 1;           // input columns between neighbours in a group
  int64_t groupElements = 0;  // of one group of a row
  std::vector<ColumnGroup> groups;
};

class PaddedImage {
 public:
  PaddedImage() = default;
  /// `axes`: height and width.
  explicit PaddedImage(const std::vector<WindowAxis>& axes);

  int64_t planeElements() const { return layout_.rows * layout_.rowElements; }
  /// Offset of tap (ky, kx) of output (0, 0) in a plane.
  int64_t tapOffset(int64_t ky, int64_t kx) const;
  /// Distance between the elements that one tap reads for outputs (y, x) and (y + 1, x). For x + 1 it is 1.
  int64_t outputRowStride() const { return rowsPerOutput_ * layout_.rowElements; }
  int64_t rows() const { return layout_.rows; }
  int64_t rowElements() const { return layout_.rowElements; }
  /// Rows of the plane between those that begin the windows of neighbouring rows of outputs.
  int64_t rowsPerOutput() const { return rowsPerOutput_; }
  /// Rows of the plane that `outputs` neighbouring rows of outputs read.
  int64_t rowsOf(int64_t outputs) const {
    return (outputs - 1) * rowsPerOutput_ + (height_.kernel - 1) * height_.dilation + 1;
  }
  /// Rows of the input, from the first to behind the last that rows [begin, end) of the plane hold.
  struct InputRows {
    int64_t begin, end;
  };
  InputRows inputRows(int64_t begin, int64_t end) const;
  /// Between the input rows of neighbouring rows of the plane.
  int64_t rowStep() const { return layout_.rowStep; }
  /// Writes rows [begin, end) of a plane from a channel [height, width]; row `begin` to `to`.
  void fill(const float* channel, float padding, int64_t begin, int64_t end, float* to) const;
  void fill(const uint8_t* channel, uint8_t padding, int64_t begin, int64_t end, uint8_t* to) const;

 private:
  WindowAxis height_{};
  WindowAxis width_{};
  int64_t rowsPerOutput_ = 1;  // stored rows between output rows
  PlaneLayout layout_;
};

}  // namespace opkit::ops::conv
