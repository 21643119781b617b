// The loops of a depthwise convolution by blocks of channels, one channel per lane; included once per target by the
// kernels of floats and of bytes.
//
// Rows of inputs are kept in slots, [column, channel] with the padding written out, and only as many as one strip of
// outputs reads, so they stay in the first-level cache. Rows above and below the image are one row of zeros. Up to
// eight neighbouring outputs are summed together: a vector of weights serves all of them, and the additions are
// independent. The last tile of a row overlaps the one before, which computes some outputs twice, with equal results.
#if defined(OPKIT_DEPTHWISE_BLOCK_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef OPKIT_DEPTHWISE_BLOCK_INL_H
#undef OPKIT_DEPTHWISE_BLOCK_INL_H
#else
#define OPKIT_DEPTHWISE_BLOCK_INL_H
#endif

#include <algorithm>

#include "engine/backend/cpu/vector_math-inl.h"
#include "ops/conv/channel_lanes-inl.h"
#include "ops/conv/conv_depthwise_block_vectors.h"

HWY_BEFORE_NAMESPACE();
namespace opkit::ops::conv {
namespace HWY_NAMESPACE {

using V = vectors::FloatVec;

/// The stored rows that the window of a row of outputs covers, and what its tiles share.
struct RowWindow {
  int64_t height;
  int64_t width;
  int64_t tapStep;     // floats between neighbouring taps
  int64_t stepFloats;  // floats between neighbouring outputs
  const float* weights;
  const float* rows[kMaxDepthwiseRows];
};

/// Adds a row of taps to kTile neighbouring outputs: every column that they share is loaded once.
template <int kWidth, int kStride, int kTile>
HWY_INLINE void addRow(const float* from, const float* weights, V (&sum)[kTile]) {
  constexpr int kColumns = (kTile - 1) * kStride + kWidth;
  V weight[kWidth];
  HWY_UNROLL(5) for (int k = 0; k < kWidth; ++k) weight[k] = hn::Load(vectors::FloatTag(), weights + k * kLanes);
  HWY_UNROLL(19)
  for (int x = 0; x < kColumns; ++x) {
    const V column = hn::Load(vectors::FloatTag(), from + x * kLanes);
    HWY_UNROLL(5)
    for (int k = 0; k < kWidth; ++k)
      if (x >= k && (x - k) % kStride == 0 && (x - k) / kStride < kTile)
        sum[(x - k) / kStride] = hn::MulAdd(weight[k], column, sum[(x - k) / kStride]);
  }
}

/// The same for any width, stride and dilation.
template <int kTile>
HWY_INLINE void addAnyRow(const RowWindow& window, const float* from, const float* weights, V (&sum)[kTile]) {
  for (int64_t k = 0; k < window.width; ++k, from += window.tapStep, weights += kLanes) {
    const V weight = hn::Load(vectors::FloatTag(), weights);
    HWY_UNROLL(8)
    for (int i = 0; i < kTile; ++i)
      sum[i] = hn::MulAdd(weight, hn::Load(vectors::FloatTag(), from + i * window.stepFloats), sum[i]);
  }
}

/// kTile neighbouring outputs from column x on. kWidth is 0 for any window.
template <int kWidth, int kStride, int kTile, class Ends>
HWY_INLINE void sumTile(const RowWindow& window, const Ends& ends, int64_t x, typename Ends::Result* to) {
  V sum[kTile];
  HWY_UNROLL(8) for (int i = 0; i < kTile; ++i) sum[i] = ends.start();
  const float* weights = window.weights;
  for (int64_t ky = 0; ky < window.height; ++ky, weights += window.width * kLanes) {
    const float* from = window.rows[ky] + x * window.stepFloats;
    asm("" : "+r"(from));  // else GCC keeps a sum of offsets per column of the tile: more than it has registers
    if constexpr (kWidth > 0)
      addRow<kWidth, kStride, kTile>(from, weights, sum);
    else
      addAnyRow(window, from, weights, sum);
  }
  ends.store(sum, to + x * kLanes);
}

template <int kWidth, int kStride, class Ends>
HWY_INLINE void sumRow(const RowWindow& window, const Ends& ends, int64_t columns, typename Ends::Result* to) {
  int64_t x = 0;
  for (; x + 8 <= columns; x += 8) sumTile<kWidth, kStride, 8>(window, ends, x, to);
  if (columns - x > 4 && columns > 8) return sumTile<kWidth, kStride, 8>(window, ends, columns - 8, to);
  if (columns - x >= 4) {
    sumTile<kWidth, kStride, 4>(window, ends, x, to);
    x += 4;
  }
  if (columns - x == 3 && columns > 4) return sumTile<kWidth, kStride, 4>(window, ends, columns - 4, to);
  if (columns - x >= 2) {
    sumTile<kWidth, kStride, 2>(window, ends, x, to);
    x += 2;
  }
  if (x < columns) sumTile<kWidth, kStride, 1>(window, ends, x, to);
}

/// Some rows of the outputs of one block while they are computed. `Ends` knows the elements of both images:
///   Result                        an element of the strip of outputs, at most as wide as a float
///   gather(row, rows, to)         writes rows of inputs from `row` on as [column, lane] floats
///   start(), store(sums, to)      what sums start with; a tile of them to the strip
///   scatter(strip, first, count)  the strip to the planes, from position `first` on
template <class Ends>
class BlockRun {
 public:
  using Result = typename Ends::Result;
  static_assert(sizeof(Result) <= sizeof(float));

  BlockRun(const DepthwiseShape& shape, const float* weights, float* scratch, const Ends& ends)
      : shape_(shape),
        weights_(weights),
        ends_(ends),
        zeros_(scratch),
        slots_(zeros_ + shape.rowFloats()),
        strip_(reinterpret_cast<Result*>(slots_ + shape.slots() * shape.rowFloats())) {
    const WindowAxis& width = shape.width();
    const int64_t stored = shape.rowFloats() / kLanes;
    padLeft_ = std::min(width.padBegin, stored);
    storedInside_ = std::clamp<int64_t>(stored - padLeft_, 0, width.input);
    vectors::fillRun(0.0f, zeros_, shape.rowFloats());
    for (int64_t x = 0; x < padLeft_; ++x) clearColumn(x);
    for (int64_t x = padLeft_ + storedInside_; x < stored; ++x) clearColumn(x);
  }

  void run(int64_t firstRow, int64_t endRow) {
    const WindowAxis &height = shape_.height(), &width = shape_.width();
    RowWindow window;  // without its rows
    window.height = height.kernel;
    window.width = width.kernel;
    window.tapStep = width.dilation * kLanes;
    window.stepFloats = width.stride * kLanes;
    window.weights = weights_;
    for (int64_t y = firstRow; y < endRow; y += shape_.stripRows()) {
      const int64_t rows = std::min(shape_.stripRows(), endRow - y);
      storeRows(height.position(y, 0), height.position(y + rows - 1, height.kernel - 1) + 1);
      for (int64_t r = 0; r < rows; ++r) {
        findRows(y + r, window.rows);
        sum(window, strip_ + r * width.output * kLanes);
      }
      ends_.scatter(strip_, y * width.output, rows * width.output);
    }
  }

 private:
  void clearColumn(int64_t x) {
    for (int64_t slot = 0; slot < shape_.slots(); ++slot)
      vectors::store(vectors::set(0.0f), slots_ + slot * shape_.rowFloats() + x * kLanes);
  }

  /// Stores the input rows of [first, end) that are not stored yet.
  void storeRows(int64_t first, int64_t end) {
    const WindowAxis &height = shape_.height(), &width = shape_.width();
    end = std::min(end, height.input);
    for (int64_t y = std::max(first, storedEnd_); y < end;) {
      if (y >= firstRow_ + shape_.slots()) firstRow_ = y / shape_.slots() * shape_.slots();
      const int64_t slot = y - firstRow_;
      const Rows rows{std::min(end - y, shape_.slots() - slot), storedInside_, width.input, shape_.rowFloats()};
      ends_.gather(y, rows, slots_ + slot * shape_.rowFloats() + padLeft_ * kLanes);
      y += rows.count;
    }
    storedEnd_ = std::max(storedEnd_, end);
  }

  /// The stored rows that the taps of outputs in row `y` read.
  void findRows(int64_t y, const float** rows) const {
    const WindowAxis& height = shape_.height();
    for (int64_t k = 0; k < height.kernel; ++k) {
      const int64_t from = height.position(y, k);
      const bool inside = from >= 0 && from < height.input;
      const int64_t slot = from < firstRow_ ? from - firstRow_ + shape_.slots() : from - firstRow_;
      rows[k] = inside ? slots_ + slot * shape_.rowFloats() : zeros_;
    }
  }

  void sum(const RowWindow& window, Result* to) const {
    const int64_t columns = shape_.width().output, stride = shape_.width().stride;
    if (shape_.width().dilation > 1) return sumRow<0, 1>(window, ends_, columns, to);
    if (window.width == 3 && stride == 1) return sumRow<3, 1>(window, ends_, columns, to);
    if (window.width == 3 && stride == 2) return sumRow<3, 2>(window, ends_, columns, to);
    if (window.width == 5 && stride == 1) return sumRow<5, 1>(window, ends_, columns, to);
    if (window.width == 5 && stride == 2) return sumRow<5, 2>(window, ends_, columns, to);
    sumRow<0, 1>(window, ends_, columns, to);
  }

  const DepthwiseShape& shape_;
  const float* weights_;  // [taps, lanes]
  const Ends& ends_;
  float* zeros_;
  float* slots_;
  Result* strip_;
  int64_t padLeft_ = 0;       // of the stored columns
  int64_t storedInside_ = 0;  // input columns that are stored
  int64_t storedEnd_ = 0;     // input rows below it are stored, or no longer needed
  int64_t firstRow_ = 0;      // the input row of slot 0
};

}  // namespace HWY_NAMESPACE
}  // namespace opkit::ops::conv
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
