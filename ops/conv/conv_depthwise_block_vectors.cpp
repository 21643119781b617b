// The blocks of floats.
#include "ops/conv/conv_depthwise_block_vectors.h"

#include <algorithm>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/conv/conv_depthwise_block_vectors.cpp"
#include "engine/backend/cpu/foreach_target.h"

#include "ops/conv/depthwise_block-inl.h"

HWY_BEFORE_NAMESPACE();
namespace opkit::ops::conv {
namespace HWY_NAMESPACE {

/// vectors::limitTo in half the instructions where Min and Max give the second operand if one is NaN.
HWY_INLINE V limit(V x, V low, V high) {
#if HWY_ARCH_X86 && HWY_TARGET != HWY_SCALAR
  return hn::Min(high, hn::Max(low, x));
#else
  return vectors::limitTo(x, low, high);
#endif
}

class FloatEnds {
 public:
  using Result = float;

  FloatEnds(const DepthwiseShape& shape, const DepthwiseBlock& block)
      : shape_(shape),
        block_(block),
        bias_(block.bias ? vectors::loadPart(block.bias, block.channels) : vectors::set(0.0f)),
        low_(vectors::set(block.low)),
        high_(vectors::set(block.high)),
        clamps_(block.low > -std::numeric_limits<float>::infinity() ||
                block.high < std::numeric_limits<float>::infinity()) {}

  void gather(int64_t row, Rows rows, float* to) const {
    const int64_t width = shape_.width().input;
    if (rows.columns == width && rows.toStride == width * kLanes) rows = {1, rows.count * width, 0, 0};
    gatherRows(block_.image + row * width, {shape_.height().input * width, block_.channels}, rows, to);
  }
  HWY_INLINE V start() const { return bias_; }
  template <int kTile>
  HWY_INLINE void store(V (&sum)[kTile], float* to) const {
    if (clamps_) {
      const V low = low_, high = high_;
      HWY_UNROLL(8) for (int i = 0; i < kTile; ++i) sum[i] = limit(sum[i], low, high);
    }
    HWY_UNROLL(8) for (int i = 0; i < kTile; ++i) hn::Store(sum[i], vectors::FloatTag(), to + i * kLanes);
  }
  void scatter(const float* strip, int64_t first, int64_t count) const {
    scatterPositions(strip, {shape_.height().output * shape_.width().output, block_.channels}, count,
                     block_.output + first);
  }

 private:
  const DepthwiseShape& shape_;
  const DepthwiseBlock& block_;
  V bias_, low_, high_;
  bool clamps_;
};

void convolve(const DepthwiseShape& shape, const DepthwiseBlock& block) {
  const FloatEnds ends(shape, block);
  BlockRun<FloatEnds>(shape, block.weights, block.scratch, ends).run(block.firstRow, block.endRow);
}

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
