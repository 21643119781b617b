#include "ops/integer_conv/integer_conv_direct_vectors.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/integer_conv/integer_conv_direct_vectors.cpp"
#include "engine/backend/cpu/foreach_target.h"

#include "engine/backend/cpu/gemm/byte_finish-inl.h"
#include "ops/conv/channel_lanes-inl.h"

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
constexpr int64_t kLanes = products::kLanes;

/// The register tile: sums, a weight vector each, and one element of the image fit into 32 registers or 16.
template <class Dot>
struct TileOf {
#if HWY_TARGET <= HWY_AVX3 || HWY_TARGET == HWY_NEON
  static constexpr int kRows = Dot::kTileRows;
  static constexpr int kVecs = 3;
#else
  static constexpr int kRows = 4;
  static constexpr int kVecs = 2;
#endif
};

/// Steps of the depth that are summed for all tiles in turn: a panel of their weights stays in the first-level cache.
constexpr int64_t kDepthBlock = 192;
constexpr int64_t kStepBytes = kLanes * kWordChannels;  // weights of a vector
constexpr int64_t kLineBytes = 64;

template <class Dot>
conv::DirectTile tileShape() {
  return {TileOf<Dot>::kRows, TileOf<Dot>::kVecs, kLanes};
}
conv::DirectTile byteTileOf() {
  return products::hasVnni() ? tileShape<products::Vnni>() : tileShape<products::Widened>();
}

/// One register tile over one block of the depth.
struct ByteTile {
  const int32_t* image;
  const int64_t* offsets;
  int64_t depth;
  const uint8_t* weights;
  const uint8_t* next;   // weights that are fetched into the second-level cache, a line per step
  int32_t* sums;         // [vector][position][lane]: of the block before, and of this one
  const int32_t* start;  // [vector][lane], in place of the block before
};

template <class Dot, int kRows, int kVecs>
HWY_NOINLINE void sumWords(const ByteTile& tile, const int64_t* positions) {
  constexpr int64_t kTileRows = TileOf<Dot>::kRows;
  I sum[kRows][kVecs];
  HWY_UNROLL(3) for (int v = 0; v < kVecs; ++v) {
    HWY_UNROLL(8)
    for (int r = 0; r < kRows; ++r)
      sum[r][v] = hn::Load(Ints(), tile.start ? tile.start + v * kLanes : tile.sums + (v * kTileRows + r) * kLanes);
  }
  const int32_t* rows[kRows];
  HWY_UNROLL(8) for (int r = 0; r < kRows; ++r) rows[r] = tile.image + positions[r];
  const uint8_t* HWY_RESTRICT weights = tile.weights;
  const int64_t* HWY_RESTRICT offsets = tile.offsets;
  const uint8_t* next = tile.next;
  for (int64_t p = 0; p < tile.depth; ++p, weights += kVecs * kStepBytes) {
    const int64_t offset = offsets[p];
    __builtin_prefetch(next, 0, 2);
    next += kLineBytes;
    typename Dot::Operand weight[kVecs];
    HWY_UNROLL(3) for (int v = 0; v < kVecs; ++v) weight[v] = Dot::left(products::loadWords(weights + v * kStepBytes));
    HWY_UNROLL(8) for (int r = 0; r < kRows; ++r) {
      const typename Dot::Operand element = Dot::right(hn::Set(Ints(), rows[r][offset]));
      HWY_UNROLL(3) for (int v = 0; v < kVecs; ++v) sum[r][v] = Dot::add(sum[r][v], weight[v], element);
    }
  }
  HWY_UNROLL(3) for (int v = 0; v < kVecs; ++v) {
    HWY_UNROLL(8)
    for (int r = 0; r < kRows; ++r) hn::Store(sum[r][v], Ints(), tile.sums + (v * kTileRows + r) * kLanes);
  }
}

using SumFn = void (*)(const ByteTile&, const int64_t*);

/// The kernel of a tile of `rows` x `vecs`, found by recursion over the template's range.
template <class Dot, int kRows = TileOf<Dot>::kRows, int kVecs = TileOf<Dot>::kVecs>
SumFn sumFn(int64_t rows, int64_t vecs) {
  if constexpr (kVecs > 1) {
    if (vecs < kVecs) return sumFn<Dot, kRows, kVecs - 1>(rows, vecs);
  }
  if constexpr (kRows > 1) {
    if (rows < kRows) return sumFn<Dot, kRows - 1, kVecs>(rows, vecs);
  }
  return &sumWords<Dot, kRows, kVecs>;
}

struct BytePanel {
  int64_t firstVec, vecs;
};
BytePanel bytePanelOf(int64_t outputs, int64_t panel) {
  const int64_t most = byteTileOf().vecs;
  const int64_t all = (outputs + kLanes - 1) / kLanes, panels = (all + most - 1) / most;
  return {all * panel / panels, all * (panel + 1) / panels - all * panel / panels};
}

/// The terms that a panel's sums start with, and what multiplies them at the end.
struct PanelEnds {
  HWY_ALIGN int32_t start[4 * kLanes];
  HWY_ALIGN float multiplier[4 * kLanes];
};

void prepareEnds(const ByteTask& task, const BytePanel& panel, const int32_t* weightSums, PanelEnds& ends) {
  const cpu::bytes::Requantization& to = task.requantization;
  for (int64_t v = 0; v < panel.vecs; ++v) {
    const int64_t channel = (panel.firstVec + v) * kLanes;
    const int count = static_cast<int>(std::min(kLanes, task.outputs - channel));
    const I bias =
        task.bias ? products::loadLine(cpu::bytes::PerLine<int32_t>{task.bias, 1}, channel, count) : hn::Zero(Ints());
    const I sums = hn::LoadU(Ints(), weightSums + channel);
    hn::Store(hn::Sub(bias, hn::Mul(sums, hn::Set(Ints(), task.zeroPoint))), Ints(), ends.start + v * kLanes);
    if (!task.y) continue;
    const F scale = hn::Mul(products::loadLine(to.left, channel, count), hn::Set(Reals(), *to.right.data));
    hn::Store(hn::Div(scale, hn::Set(Reals(), to.target)), Reals(), ends.multiplier + v * kLanes);
  }
}

/// Walks the positions of a task: where the image has the words that each reads.
struct WordWalk {
  int64_t length, stride, run, inRun;
  void take(int64_t count, int64_t* offsets) {
    for (int64_t r = 0; r < count; ++r) {
      offsets[r] = run + inRun;
      if (++inRun < length) continue;
      inRun = 0;
      run += stride;
    }
  }
};

/// The results of a tile: sums to their planes; bytes to `staged`, [vector][position of the task][lane].
template <class Dot>
HWY_INLINE void finishWords(const ByteTask& task, const BytePanel& panel, const PanelEnds& ends, const int32_t* sums,
                            int64_t position, int64_t rows, uint8_t* staged) {
  constexpr int64_t kTileRows = TileOf<Dot>::kRows;
  const cpu::bytes::Requantization to = task.requantization;
  const int64_t count = task.endPosition - task.firstPosition;
  for (int64_t v = 0; v < panel.vecs; ++v, sums += kTileRows * kLanes) {
    const int64_t channel = (panel.firstVec + v) * kLanes;
    if (task.sums) {
      const auto* floats = reinterpret_cast<const float*>(sums);  // only moved
      lanes::scatterPositions(floats, {task.planeStride, std::min(kLanes, task.outputs - channel)}, rows,
                              reinterpret_cast<float*>(task.sums) + channel * task.planeStride + position);
      continue;
    }
    const F multiplier = hn::Load(Reals(), ends.multiplier + v * kLanes);
    uint8_t* bytes = staged + (v * count + position - task.firstPosition) * kLanes;
    for (int64_t r = 0; r < rows; ++r)
      products::storeBytes(products::requantized(hn::Load(Ints(), sums + r * kLanes), multiplier, to),
                           bytes + r * kLanes, static_cast<int>(kLanes));
  }
}

template <class Dot>
void convolveBytePanel(const ByteTask& task, const BytePanel& panel) {
  constexpr int64_t kTileRows = TileOf<Dot>::kRows, kTileVecs = TileOf<Dot>::kVecs;
  const int64_t count = task.endPosition - task.firstPosition;
  const int64_t tiles = ceilDiv(count, kTileRows), rowsLeft = count % tiles;
  const int64_t allLanes = roundUp(task.outputs, kLanes), firstLane = panel.firstVec * kLanes;
  PanelEnds ends;
  prepareEnds(task, panel, reinterpret_cast<const int32_t*>(task.weights + allLanes * task.depth * kWordChannels),
              ends);
  auto* const scratch = reinterpret_cast<int32_t*>(task.scratch);
  uint8_t* const staged = task.scratch + tiles * kTileRows * kTileVecs * kLanes * 4;
  ByteTile tile{.image = task.image,
                .offsets = task.offsets,
                .depth = 0,
                .weights = task.weights + firstLane * task.depth * kWordChannels,
                .next = nullptr,
                .sums = scratch,
                .start = ends.start};
  int64_t begin = 0;
  do {  // once if the depth is 0, which gives the bias
    tile.depth = std::min(kDepthBlock, task.depth - begin);
    const bool isLast = begin + tile.depth == task.depth, isOnly = isLast && begin == 0;
    tile.sums = scratch;
    tile.next = tile.weights + tile.depth * panel.vecs * kStepBytes;
    WordWalk walk{task.runLength, task.runStride, task.firstPosition / task.runLength * task.runStride,
                  task.firstPosition % task.runLength};
    int64_t position = task.firstPosition;
    for (int64_t t = 0; t < tiles; ++t) {
      const int64_t rows = count / tiles + (t < rowsLeft ? 1 : 0);
      int64_t offsets[kTileRows];
      walk.take(rows, offsets);
      sumFn<Dot>(rows, panel.vecs)(tile, offsets);
      if (isLast) finishWords<Dot>(task, panel, ends, tile.sums, position, rows, staged);
      if (!isOnly) tile.sums += kTileRows * kTileVecs * kLanes;
      tile.next += tile.depth * kLineBytes;
      position += rows;
    }
    tile.start = nullptr;
    tile.offsets += tile.depth;
    tile.weights += tile.depth * panel.vecs * kStepBytes;
    begin += tile.depth;
  } while (begin < task.depth);
  if (task.sums) return;
  for (int64_t v = 0; v < panel.vecs; ++v) {
    const int64_t channel = firstLane + v * kLanes;
    lanes::scatterBytes(staged + v * count * kLanes, {task.planeStride, std::min(kLanes, task.outputs - channel)},
                        count, task.y + channel * task.planeStride + task.firstPosition);
  }
}

void convolveBytePanels(const ByteTask& task) {
  for (int64_t p = task.firstPanel; p < task.endPanel; ++p) {
    const BytePanel panel = bytePanelOf(task.outputs, p);
    if (products::hasVnni())
      convolveBytePanel<products::Vnni>(task, panel);
    else
      convolveBytePanel<products::Widened>(task, panel);
  }
}

void packByteWeights(const uint8_t* weights, bool isSigned, int64_t outputs, int64_t inputs, int64_t taps,
                     uint8_t* to) {
  const auto flip = static_cast<uint8_t>(isSigned ? 0 : 0x80);
  const int64_t words = ceilDiv(inputs, kWordChannels), allLanes = roundUp(outputs, kLanes);
  const conv::DirectTile tile = byteTileOf();
  const int64_t panels = ceilDiv(outputs, tile.lanes * tile.vecs);
  auto* sums = reinterpret_cast<int32_t*>(to + allLanes * words * taps * kWordChannels);
  std::fill_n(sums, allLanes, 0);
  for (int64_t i = 0; i < panels; ++i) {
    const BytePanel panel = bytePanelOf(outputs, i);
    const int64_t first = panel.firstVec * kLanes, end = first + panel.vecs * kLanes;
    for (int64_t word = 0; word < words; ++word)
      for (int64_t tap = 0; tap < taps; ++tap)
        for (int64_t c = first; c < end; ++c)
          for (int64_t input = word * kWordChannels; input < (word + 1) * kWordChannels; ++input) {
            const bool exists = c < outputs && input < inputs;
            const uint8_t weight = exists ? weights[(c * inputs + input) * taps + tap] ^ flip : 0;
            sums[c] += static_cast<int8_t>(weight);
            *to++ = weight;
          }
  }
}

void wordsOf(const uint8_t* const (&rows)[kWordChannels], uint8_t flip, int32_t* to, int64_t count) {
  auto* bytes = reinterpret_cast<uint8_t*>(to);
  int64_t done = 0;
#if HWY_TARGET != HWY_SCALAR
  const hn::FixedTag<uint8_t, 16> d;
  const auto flips = hn::Set(d, flip);
  const auto put = [&](int64_t i) HWY_ATTR {
    hn::StoreInterleaved4(hn::Xor(hn::LoadU(d, rows[0] + i), flips), hn::Xor(hn::LoadU(d, rows[1] + i), flips),
                          hn::Xor(hn::LoadU(d, rows[2] + i), flips), hn::Xor(hn::LoadU(d, rows[3] + i), flips), d,
                          bytes + i * kWordChannels);
  };
  for (; done + 16 <= count; done += 16) put(done);
  if (done < count && count >= 16) return put(count - 16);
#endif
  for (; done < count; ++done)
    for (int64_t c = 0; c < kWordChannels; ++c)
      bytes[done * kWordChannels + c] = static_cast<uint8_t>(rows[c][done] ^ flip);
}

}  // namespace HWY_NAMESPACE
}  // namespace opkit::ops::integer_conv
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opkit::ops::integer_conv {

HWY_EXPORT(byteTileOf);
HWY_EXPORT(convolveBytePanels);
HWY_EXPORT(packByteWeights);
HWY_EXPORT(wordsOf);

conv::DirectTile byteTile() { return HWY_DYNAMIC_DISPATCH(byteTileOf)(); }

int64_t directWeightBytes(int64_t outputs, int64_t depth) {
  return roundUp(roundUp(outputs, byteTile().lanes) * (depth * kWordChannels + 4), 64);
}

int64_t directScratchBytes(int64_t positions) {
  const conv::DirectTile tile = byteTile();
  return roundUp(roundUp(positions, tile.positions) * tile.vecs * tile.lanes * 5, 64);
}

void packDirectWeights(const uint8_t* weights, bool isSigned, int64_t outputs, int64_t inputs, int64_t taps,
                       uint8_t* to) {
  HWY_DYNAMIC_DISPATCH(packByteWeights)(weights, isSigned, outputs, inputs, taps, to);
}

void convolveBytes(const ByteTask& task) { HWY_DYNAMIC_DISPATCH(convolveBytePanels)(task); }

void makeWords(const uint8_t* const (&rows)[kWordChannels], uint8_t flip, int32_t* to, int64_t count) {
  HWY_DYNAMIC_DISPATCH(wordsOf)(rows, flip, to, count);
}

}  // namespace opkit::ops::integer_conv
#endif
