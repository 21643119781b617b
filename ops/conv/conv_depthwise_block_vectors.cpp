// Rows of inputs are kept in slots, [column, channel] with the padding written out, and only as many as one strip of
// outputs reads, so they stay in the first-level cache. Rows above and below the image are one row of zeros. Up to
// eight neighbouring outputs are summed together: a vector of weights serves all of them, and the additions are
// independent. The last tile of a row overlaps the one before, which computes some outputs twice, with equal results.
#include "ops/conv/conv_depthwise_block_vectors.h"

#include <algorithm>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/conv/conv_depthwise_block_vectors.cpp"
#include "engine/backend/cpu/foreach_target.h"

#include "engine/backend/cpu/vector_math-inl.h"
#include "ops/conv/channel_lanes-inl.h"

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
  V bias;
  V low;
  V high;
  bool clamps;
  const float* rows[kMaxDepthwiseRows];
};

/// vectors::limitTo in half the instructions where Min and Max give the second operand if one is NaN.
HWY_INLINE V limit(V x, V low, V high) {
#if HWY_ARCH_X86 && HWY_TARGET != HWY_SCALAR
  return hn::Min(high, hn::Max(low, x));
#else
  return vectors::limitTo(x, low, high);
#endif
}

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
template <int kWidth, int kStride, int kTile>
HWY_INLINE void sumTile(const RowWindow& window, int64_t x, float* to) {
  V sum[kTile];
  HWY_UNROLL(8) for (int i = 0; i < kTile; ++i) sum[i] = window.bias;
  const float* weights = window.weights;
  for (int64_t ky = 0; ky < window.height; ++ky, weights += window.width * kLanes) {
    const float* from = window.rows[ky] + x * window.stepFloats;
    asm("" : "+r"(from));  // else GCC keeps a sum of offsets per column of the tile: more than it has registers
    if constexpr (kWidth > 0)
      addRow<kWidth, kStride, kTile>(from, weights, sum);
    else
      addAnyRow(window, from, weights, sum);
  }
  if (window.clamps) {
    const V low = window.low, high = window.high;
    HWY_UNROLL(8) for (int i = 0; i < kTile; ++i) sum[i] = limit(sum[i], low, high);
  }
  HWY_UNROLL(8) for (int i = 0; i < kTile; ++i) hn::Store(sum[i], vectors::FloatTag(), to + (x + i) * kLanes);
}

template <int kWidth, int kStride>
HWY_INLINE void sumRow(const RowWindow& window, int64_t columns, float* to) {
  int64_t x = 0;
  for (; x + 8 <= columns; x += 8) sumTile<kWidth, kStride, 8>(window, x, to);
  if (columns - x > 4 && columns > 8) return sumTile<kWidth, kStride, 8>(window, columns - 8, to);
  if (columns - x >= 4) {
    sumTile<kWidth, kStride, 4>(window, x, to);
    x += 4;
  }
  if (columns - x == 3 && columns > 4) return sumTile<kWidth, kStride, 4>(window, columns - 4, to);
  if (columns - x >= 2) {
    sumTile<kWidth, kStride, 2>(window, x, to);
    x += 2;
  }
  if (x < columns) sumTile<kWidth, kStride, 1>(window, x, to);
}

/// One block while it is convolved.
class BlockRun {
 public:
  BlockRun(const DepthwiseShape& shape, const DepthwiseBlock& block)
      : shape_(shape),
        block_(block),
        zeros_(block.scratch),
        slots_(zeros_ + shape.rowFloats()),
        strip_(slots_ + shape.slots() * shape.rowFloats()) {
    const WindowAxis& width = shape.width();
    const int64_t stored = shape.rowFloats() / kLanes;
    padLeft_ = std::min(width.padBegin, stored);
    storedInside_ = std::clamp<int64_t>(stored - padLeft_, 0, width.input);
    vectors::fillRun(0.0f, zeros_, shape.rowFloats());
    for (int64_t x = 0; x < padLeft_; ++x) clearColumn(x);
    for (int64_t x = padLeft_ + storedInside_; x < stored; ++x) clearColumn(x);
  }

  void run() {
    const WindowAxis &height = shape_.height(), &width = shape_.width();
    const ChannelPlanes outputs{height.output * width.output, block_.channels};
    RowWindow window;  // without its rows
    window.height = height.kernel;
    window.width = width.kernel;
    window.tapStep = width.dilation * kLanes;
    window.stepFloats = width.stride * kLanes;
    window.weights = block_.weights;
    window.bias = block_.bias ? vectors::loadPart(block_.bias, block_.channels) : vectors::set(0.0f);
    window.low = vectors::set(block_.low);
    window.high = vectors::set(block_.high);
    window.clamps =
        block_.low > -std::numeric_limits<float>::infinity() || block_.high < std::numeric_limits<float>::infinity();
    for (int64_t y = block_.firstRow; y < block_.endRow; y += shape_.stripRows()) {
      const int64_t rows = std::min(shape_.stripRows(), block_.endRow - y);
      storeRows(height.position(y, 0), height.position(y + rows - 1, height.kernel - 1) + 1);
      for (int64_t r = 0; r < rows; ++r) {
        findRows(y + r, window.rows);
        sum(window, strip_ + r * width.output * kLanes);
      }
      scatterPositions(strip_, outputs, rows * width.output, block_.output + y * width.output);
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
    const ChannelPlanes inputs{height.input * width.input, block_.channels};
    end = std::min(end, height.input);
    for (int64_t y = std::max(first, storedEnd_); y < end;) {
      if (y >= firstRow_ + shape_.slots()) firstRow_ = y / shape_.slots() * shape_.slots();
      const int64_t slot = y - firstRow_;
      Rows rows{std::min(end - y, shape_.slots() - slot), storedInside_, width.input, shape_.rowFloats()};
      const float* from = block_.image + y * width.input;
      float* to = slots_ + slot * shape_.rowFloats() + padLeft_ * kLanes;
      y += rows.count;
      if (rows.columns == width.input && shape_.rowFloats() == width.input * kLanes)
        rows = {1, rows.count * width.input, 0, 0};
      gatherRows(from, inputs, rows, to);
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

  void sum(const RowWindow& window, float* to) const {
    const int64_t columns = shape_.width().output, stride = shape_.width().stride;
    if (shape_.width().dilation > 1) return sumRow<0, 1>(window, columns, to);
    if (window.width == 3 && stride == 1) return sumRow<3, 1>(window, columns, to);
    if (window.width == 3 && stride == 2) return sumRow<3, 2>(window, columns, to);
    if (window.width == 5 && stride == 1) return sumRow<5, 1>(window, columns, to);
    if (window.width == 5 && stride == 2) return sumRow<5, 2>(window, columns, to);
    sumRow<0, 1>(window, columns, to);
  }

  const DepthwiseShape& shape_;
  const DepthwiseBlock& block_;
  float* zeros_;
  float* slots_;
  float* strip_;
  int64_t padLeft_ = 0;       // of the stored columns
  int64_t storedInside_ = 0;  // input columns that are stored
  int64_t storedEnd_ = 0;     // input rows below it are stored, or no longer needed
  int64_t firstRow_ = 0;      // the input row of slot 0
};

void convolve(const DepthwiseShape& shape, const DepthwiseBlock& block) { BlockRun(shape, block).run(); }

void pack(const float* from, int64_t positions, int64_t channels, float* to) {
  gatherRows(from, {positions, channels}, {1, positions, 0, 0}, to);
}

int64_t lanes() { return kLanes; }

}  // namespace HWY_NAMESPACE
}  // namespace opkit::ops::conv
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opkit::ops::conv {
HWY_EXPORT(convolve);
HWY_EXPORT(pack);
HWY_EXPORT(lanes);

namespace {
constexpr int64_t kStripPositions = 64;  // of outputs; more save no time
constexpr int64_t kStripFloats = 3072;   // of scratch: planes and weights need the rest of a first-level cache
}  // namespace

int64_t depthwiseLanes() { return HWY_DYNAMIC_DISPATCH(lanes)(); }

DepthwiseShape::DepthwiseShape(const WindowAxis& height, const WindowAxis& width)
    : height_(height),
      width_(width),
      lanes_(depthwiseLanes()),
      storedColumns_(width.position(width.output - 1, width.kernel - 1) + width.padBegin + 1) {
  const auto slotsOf = [&](int64_t rows) {
    const int64_t covered = (rows - 1) * height.stride + (height.kernel - 1) * height.dilation + 1;
    return std::clamp<int64_t>(covered, 1, std::max<int64_t>(height.input, 1));
  };
  const auto floatsOf = [&](int64_t rows) { return (slotsOf(rows) * storedColumns_ + rows * width.output) * lanes_; };
  stripRows_ = std::clamp<int64_t>(kStripPositions / width.output, 1, height.output);
  while (stripRows_ > 1 && floatsOf(stripRows_) > kStripFloats) --stripRows_;
  slots_ = slotsOf(stripRows_);
}

void convolveBlock(const DepthwiseShape& shape, const DepthwiseBlock& block) {
  HWY_DYNAMIC_DISPATCH(convolve)(shape, block);
}
void packChannels(const float* from, int64_t positions, int64_t channels, float* to) {
  HWY_DYNAMIC_DISPATCH(pack)(from, positions, channels, to);
}
}  // namespace opkit::ops::conv
#endif
