// Transposes between planes of channels and vectors that hold a position of one channel per lane.
//
// Included after highway.h, once per target. 4 x 4 blocks are transposed within 128 bits, two of them to a vector (with
// 512 bits it was no faster). Four planes are written at a time, or eight read, so planes at a distance of 4 KB do not
// push each other out of the first-level cache.
#if defined(OPKIT_CHANNEL_LANES_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef OPKIT_CHANNEL_LANES_INL_H
#undef OPKIT_CHANNEL_LANES_INL_H
#else
#define OPKIT_CHANNEL_LANES_INL_H
#endif

#include <algorithm>

#include "engine/backend/cpu/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace opkit::ops::conv {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace vectors = opkit::cpu::HWY_NAMESPACE;

constexpr int64_t kLanes = vectors::kLanes;

/// Planes of the channels of a block. Lanes without a channel repeat the last one and are not stored.
struct ChannelPlanes {
  int64_t stride;  // between planes
  int64_t channels;
};

/// Rows of positions that are adjacent in a plane.
struct Rows {
  int64_t count;
  int64_t columns;
  int64_t fromStride;
  int64_t toStride;
};

/// to[y * rows.toStride + x * kLanes + lane] = from[lane * planes.stride + y * rows.fromStride + x]; `to` is aligned.
/// Reads nothing past a row's last column.
HWY_INLINE void gatherRows(const float* from, ChannelPlanes planes, Rows rows, float* to);

/// to[lane * planes.stride + i] = from[i * kLanes + lane]
HWY_INLINE void scatterPositions(const float* from, ChannelPlanes planes, int64_t count, float* to);

/// The same for bytes: to[i * kLanes + lane] = from[lane * planes.stride + i] ^ flip, and back without it.
HWY_INLINE void gatherBytes(const uint8_t* from, ChannelPlanes planes, int64_t count, uint8_t flip, uint8_t* to);
HWY_INLINE void scatterBytes(const uint8_t* from, ChannelPlanes planes, int64_t count, uint8_t* to);

#if HWY_TARGET == HWY_SCALAR  // vectors have one element
HWY_INLINE void gatherRows(const float* from, ChannelPlanes, Rows rows, float* to) {
  for (int64_t y = 0; y < rows.count; ++y)
    std::copy_n(from + y * rows.fromStride, rows.columns, to + y * rows.toStride);
}
HWY_INLINE void scatterPositions(const float* from, ChannelPlanes, int64_t count, float* to) {
  std::copy_n(from, count, to);
}
HWY_INLINE void gatherBytes(const uint8_t* from, ChannelPlanes, int64_t count, uint8_t flip, uint8_t* to) {
  for (int64_t i = 0; i < count; ++i) to[i] = static_cast<uint8_t>(from[i] ^ flip);
}
HWY_INLINE void scatterBytes(const uint8_t* from, ChannelPlanes, int64_t count, uint8_t* to) {
  std::copy_n(from, count, to);
}
#else
constexpr int64_t kQuad = 4;
using QuadTag = hn::FixedTag<float, kQuad>;
using PartTag = hn::CappedTag<float, 8>;
constexpr int64_t kPart = static_cast<int64_t>(hn::MaxLanes(PartTag()));

/// Four floats from at(0), then, in a vector of eight, four from at(1).
template <class D, class At>
HWY_INLINE hn::Vec<D> loadQuads(D d, const At& at) {
  if constexpr (hn::MaxLanes(D()) == kQuad)
    return hn::LoadU(d, at(0));
  else
    return hn::Combine(d, hn::LoadU(QuadTag(), at(1)), hn::LoadU(QuadTag(), at(0)));
}

/// Transposes the 4 x 4 blocks: lane 4 b + i of v[j] goes to lane 4 b + j of v[i].
template <class D>
HWY_INLINE void transposeQuads(D d, hn::Vec<D> (&v)[kQuad]) {
  // As integers, which some processors shuffle on more ports than floats.
  const hn::RebindToUnsigned<D> du;
  const auto v0 = hn::BitCast(du, v[0]), v1 = hn::BitCast(du, v[1]), v2 = hn::BitCast(du, v[2]),
             v3 = hn::BitCast(du, v[3]);
  const auto low02 = hn::InterleaveLower(du, v0, v2), high02 = hn::InterleaveUpper(du, v0, v2);
  const auto low13 = hn::InterleaveLower(du, v1, v3), high13 = hn::InterleaveUpper(du, v1, v3);
  v[0] = hn::BitCast(d, hn::InterleaveLower(du, low02, low13));
  v[1] = hn::BitCast(d, hn::InterleaveUpper(du, low02, low13));
  v[2] = hn::BitCast(d, hn::InterleaveLower(du, high02, high13));
  v[3] = hn::BitCast(d, hn::InterleaveUpper(du, high02, high13));
}

/// Calls body(i) for steps that cover [0, count), four in a row without a test between them where there are as many.
/// The last step may overlap the one before. REQUIRES count >= step.
template <class Body>
HWY_INLINE void forSteps(int64_t count, int64_t step, const Body& body) {
  int64_t i = 0;
  for (; i + 4 * step <= count; i += 4 * step) HWY_UNROLL(4) for (int64_t k = 0; k < 4; ++k) body(i + k * step);
  for (; i < count; i += step) body(std::min(i, count - step));
}

/// kPart lanes from `lane` on.
HWY_INLINE void gatherPart(const float* from, ChannelPlanes planes, int64_t lane, Rows rows, float* to) {
  const float* p[8];
  HWY_UNROLL(8)
  for (int64_t i = 0; i < 8; ++i) p[i] = from + std::min(lane + i, planes.channels - 1) * planes.stride;
  for (int64_t y = 0; y < rows.count; ++y, to += rows.toStride) {
    forSteps(
        rows.columns, kQuad, [&](int64_t x) HWY_ATTR __attribute__((always_inline)) {
          hn::Vec<PartTag> v[kQuad];
          HWY_UNROLL(4)
          for (int64_t j = 0; j < kQuad; ++j)
            v[j] = loadQuads(PartTag(), [&](int64_t b) HWY_ATTR { return p[kQuad * b + j] + x; });
          transposeQuads(PartTag(), v);
          HWY_UNROLL(4) for (int64_t j = 0; j < kQuad; ++j) hn::Store(v[j], PartTag(), to + (x + j) * kLanes + lane);
        });
    HWY_UNROLL(8) for (int64_t i = 0; i < 8; ++i) p[i] += rows.fromStride;
  }
}

HWY_INLINE void gatherRows(const float* from, ChannelPlanes planes, Rows rows, float* to) {
  if (rows.columns < kQuad) {
    for (int64_t y = 0; y < rows.count; ++y, from += rows.fromStride, to += rows.toStride)
      for (int64_t i = 0; i < rows.columns * kLanes; ++i)
        to[i] = from[std::min(i % kLanes, planes.channels - 1) * planes.stride + i / kLanes];
    return;
  }
  for (int64_t lane = 0; lane < kLanes; lane += kPart) gatherPart(from, planes, lane, rows, to);
}

/// Four lanes from `from` on, as many positions at a time as D has lanes, to planes of which `channels` exist.
template <bool kWhole, class D>
HWY_INLINE void scatterQuad(D d, const float* from, int64_t stride, int64_t channels, int64_t count, float* to) {
  float* const p[4] = {to, to + stride, to + 2 * stride, to + 3 * stride};
  forSteps(
      count, static_cast<int64_t>(hn::MaxLanes(D())), [&](int64_t x) HWY_ATTR __attribute__((always_inline)) {
        hn::Vec<D> v[kQuad];
        HWY_UNROLL(4)
        for (int64_t j = 0; j < kQuad; ++j)
          v[j] = loadQuads(d, [&](int64_t b) HWY_ATTR { return from + (x + kQuad * b + j) * kLanes; });
        transposeQuads(d, v);
        HWY_UNROLL(4) for (int64_t j = 0; j < kQuad; ++j) if (kWhole || j < channels) hn::StoreU(v[j], d, p[j] + x);
      });
}

template <class D>
HWY_INLINE void scatterSteps(D d, const float* from, ChannelPlanes planes, int64_t count, float* to) {
  int64_t lane = 0;
  for (; lane + kQuad <= planes.channels; lane += kQuad)
    scatterQuad<true>(d, from + lane, planes.stride, kQuad, count, to + lane * planes.stride);
  if (lane < planes.channels)
    scatterQuad<false>(d, from + lane, planes.stride, planes.channels - lane, count, to + lane * planes.stride);
}

HWY_INLINE void scatterPositions(const float* from, ChannelPlanes planes, int64_t count, float* to) {
  if (planes.stride == 1 && count == 1) return vectors::storePart(vectors::load(from), to, planes.channels);
  if (count >= kPart) return scatterSteps(PartTag(), from, planes, count, to);
  if (count >= kQuad) return scatterSteps(QuadTag(), from, planes, count, to);
  for (int64_t i = 0; i < count; ++i)
    for (int64_t lane = 0; lane < planes.channels; ++lane) to[lane * planes.stride + i] = from[i * kLanes + lane];
}

// Sixteen positions at a time lie in kLanes vectors. A perfect shuffle moves the highest bit of a byte's address,
// [lane, position] or [position, lane], behind its lowest.
using ByteTag = hn::FixedTag<uint8_t, 16>;
using ByteVec = hn::Vec<ByteTag>;
constexpr int64_t kBytePositions = 16;

HWY_INLINE void shuffleBytes(ByteVec (&v)[kLanes]) {
  ByteVec shuffled[kLanes];
  HWY_UNROLL(16) for (int64_t j = 0; j < kLanes / 2; ++j) {
    shuffled[2 * j] = hn::InterleaveLower(ByteTag(), v[j], v[j + kLanes / 2]);
    shuffled[2 * j + 1] = hn::InterleaveUpper(ByteTag(), v[j], v[j + kLanes / 2]);
  }
  HWY_UNROLL(16) for (int64_t j = 0; j < kLanes; ++j) v[j] = shuffled[j];
}

HWY_INLINE void gatherBytes(const uint8_t* from, ChannelPlanes planes, int64_t count, uint8_t flip, uint8_t* to) {
  if (count < kBytePositions) {
    for (int64_t lane = 0; lane < kLanes; ++lane) {
      const uint8_t* plane = from + std::min(lane, planes.channels - 1) * planes.stride;
      for (int64_t i = 0; i < count; ++i) to[i * kLanes + lane] = static_cast<uint8_t>(plane[i] ^ flip);
    }
    return;
  }
  const ByteVec flips = hn::Set(ByteTag(), flip);
  for (int64_t next = 0; next < count; next += kBytePositions) {
    const int64_t i = std::min(next, count - kBytePositions);
    ByteVec v[kLanes];
    HWY_UNROLL(16) for (int64_t lane = 0; lane < kLanes; ++lane) {
      const uint8_t* plane = from + std::min(lane, planes.channels - 1) * planes.stride;
      v[lane] = hn::Xor(hn::LoadU(ByteTag(), plane + i), flips);
    }
    HWY_UNROLL(4) for (int64_t bit = 1; bit < kLanes; bit *= 2) shuffleBytes(v);
    HWY_UNROLL(16)
    for (int64_t j = 0; j < kLanes; ++j) hn::StoreU(v[j], ByteTag(), to + i * kLanes + j * kBytePositions);
  }
}

HWY_INLINE void scatterBytes(const uint8_t* from, ChannelPlanes planes, int64_t count, uint8_t* to) {
  if (count < kBytePositions) {
    for (int64_t lane = 0; lane < planes.channels; ++lane)
      for (int64_t i = 0; i < count; ++i) to[lane * planes.stride + i] = from[i * kLanes + lane];
    return;
  }
  for (int64_t next = 0; next < count; next += kBytePositions) {
    const int64_t i = std::min(next, count - kBytePositions);
    ByteVec v[kLanes];
    HWY_UNROLL(16)
    for (int64_t j = 0; j < kLanes; ++j) v[j] = hn::LoadU(ByteTag(), from + i * kLanes + j * kBytePositions);
    HWY_UNROLL(4) for (int64_t bit = 1; bit < kBytePositions; bit *= 2) shuffleBytes(v);
    HWY_UNROLL(16)
    for (int64_t lane = 0; lane < kLanes; ++lane)
      if (lane < planes.channels) hn::StoreU(v[lane], ByteTag(), to + lane * planes.stride + i);
  }
}
#endif

}  // namespace HWY_NAMESPACE
}  // namespace opkit::ops::conv
HWY_AFTER_NAMESPACE();
#endif
