#include "ops/integer_conv/integer_conv_depthwise_vectors.h"

#include <algorithm>

#include "engine/base/divide.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/integer_conv/integer_conv_depthwise_vectors.cpp"
#include "engine/backend/cpu/foreach_target.h"

#include "engine/backend/cpu/gemm/byte_finish-inl.h"
#include "ops/conv/depthwise_block-inl.h"

HWY_BEFORE_NAMESPACE();
namespace opkit::ops::integer_conv {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace products = opkit::cpu::bytes::HWY_NAMESPACE;
namespace lanes = opkit::ops::conv::HWY_NAMESPACE;

using products::F;
using products::I;
using products::Ints;
using products::Reals;
constexpr int64_t kBlockLanes = lanes::kLanes;

/// Bytes are transposed as they are and become floats on their way into the slots.
class ByteEnds {
 public:
  ByteEnds(const conv::DepthwiseShape& shape, const ByteBlock& block)
      : shape_(shape),
        block_(block),
        staged_(reinterpret_cast<uint8_t*>(block.scratch + shape.scratchFloats())),
        bias_(block.bias.data ? products::loadLine(block.bias, 0, static_cast<int>(block.channels))
                              : hn::Zero(Ints())) {}

  void gather(int64_t row, const lanes::Rows& rows, float* to) const {
    const int64_t width = shape_.width().input;
    lanes::gatherBytes(block_.image + row * width, {shape_.height().input * width, block_.channels}, rows.count * width,
                       block_.isSigned ? 0x80 : 0, staged_);
    const hn::Rebind<uint8_t, Ints> bytes;
    const I zeroPoint = hn::Set(Ints(), block_.imageZeroPoint);
    for (int64_t y = 0; y < rows.count; ++y, to += rows.toStride) {
      const uint8_t* from = staged_ + y * width * kBlockLanes;
      for (int64_t x = 0; x < rows.columns; ++x) {
        const I value = hn::PromoteTo(Ints(), hn::LoadU(bytes, from + x * kBlockLanes));
        hn::Store(hn::ConvertTo(Reals(), hn::Sub(value, zeroPoint)), Reals(), to + x * kBlockLanes);
      }
    }
  }
  HWY_INLINE F start() const { return hn::Zero(Reals()); }

 protected:
  HWY_INLINE I result(F sum) const { return hn::Add(hn::ConvertTo(Ints(), sum), bias_); }
  lanes::ChannelPlanes planes() const { return {shape_.height().output * shape_.width().output, block_.channels}; }

  const conv::DepthwiseShape& shape_;
  const ByteBlock& block_;

 private:
  uint8_t* staged_;  // [position, lane]
  I bias_;
};

class SumEnds : public ByteEnds {
 public:
  using Result = float;  // an integer, only moved
  using ByteEnds::ByteEnds;

  template <int kTile>
  HWY_INLINE void store(F (&sum)[kTile], float* to) const {
    HWY_UNROLL(8)
    for (int i = 0; i < kTile; ++i) hn::Store(hn::BitCast(Reals(), result(sum[i])), Reals(), to + i * kBlockLanes);
  }
  void scatter(const float* strip, int64_t first, int64_t count) const {
    lanes::scatterPositions(strip, planes(), count, reinterpret_cast<float*>(block_.sums) + first);
  }
};

class QuantizedEnds : public ByteEnds {
 public:
  using Result = uint8_t;

  QuantizedEnds(const conv::DepthwiseShape& shape, const ByteBlock& block)
      : ByteEnds(shape, block), target_(*block.requantization) {
    const F left = products::loadLine(target_.left, 0, static_cast<int>(block.channels));
    multiplier_ = hn::Div(hn::Mul(left, hn::Set(Reals(), *target_.right.data)), hn::Set(Reals(), target_.target));
  }

  template <int kTile>
  HWY_INLINE void store(F (&sum)[kTile], uint8_t* to) const {
    HWY_UNROLL(8)
    for (int i = 0; i < kTile; ++i)
      products::storeBytes(products::requantized(result(sum[i]), multiplier_, target_), to + i * kBlockLanes,
                           static_cast<int>(kBlockLanes));
  }
  void scatter(const uint8_t* strip, int64_t first, int64_t count) const {
    lanes::scatterBytes(strip, planes(), count, block_.y + first);
  }

 private:
  const cpu::bytes::Requantization target_;
  F multiplier_;
};

/// The weights less their zero points, in `to` unless these are 0.
const float* weightsOf(const conv::DepthwiseShape& shape, const ByteBlock& block, float* to) {
  const I zeroPoint = products::loadLine(block.weightZeroPoint, 0, static_cast<int>(block.channels));
  if (hn::AllTrue(Ints(), hn::Eq(zeroPoint, hn::Zero(Ints())))) return block.weights;
  const F subtracted = hn::ConvertTo(Reals(), zeroPoint);
  for (int64_t i = 0; i < shape.taps() * kBlockLanes; i += kBlockLanes)
    hn::Store(hn::Sub(hn::Load(Reals(), block.weights + i), subtracted), Reals(), to + i);
  return to;
}

template <class Ends>
void convolveWith(const conv::DepthwiseShape& shape, const ByteBlock& block) {
  float* own = block.scratch + byteBlockFloats(shape) - roundUp(shape.taps() * kBlockLanes, 16);
  const Ends ends(shape, block);
  lanes::BlockRun<Ends>(shape, weightsOf(shape, block, own), block.scratch, ends).run(block.firstRow, block.endRow);
}

void convolveBytes(const conv::DepthwiseShape& shape, const ByteBlock& block) {
  block.y ? convolveWith<QuantizedEnds>(shape, block) : convolveWith<SumEnds>(shape, block);
}

}  // namespace HWY_NAMESPACE
}  // namespace opkit::ops::integer_conv
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opkit::ops::integer_conv {
HWY_EXPORT(convolveBytes);

int64_t byteBlockFloats(const conv::DepthwiseShape& shape) {
  const int64_t stagedFloats = ceilDiv(shape.slots() * shape.width().input * shape.lanes(), 4);
  return roundUp(shape.scratchFloats() + stagedFloats, 16) + roundUp(shape.taps() * shape.lanes(), 16);
}

void convolveByteBlock(const conv::DepthwiseShape& shape, const ByteBlock& block) {
  HWY_DYNAMIC_DISPATCH(convolveBytes)(shape, block);
}

void packByteChannels(const uint8_t* w, bool isSigned, int64_t taps, int64_t channels, float* to) {
  for (int64_t tap = 0; tap < taps; ++tap)
    for (int64_t lane = 0; lane < conv::depthwiseLanes(); ++lane) {
      const uint8_t weight = w[std::min(lane, channels - 1) * taps + tap];
      *to++ = static_cast<float>(static_cast<int8_t>(isSigned ? weight : weight ^ 0x80));
    }
}
}  // namespace opkit::ops::integer_conv
#endif
