#include "ops/conv/conv_direct_vectors.h"

#include <algorithm>
#include <limits>

#include "engine/base/divide.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/conv/conv_direct_vectors.cpp"
#include "engine/backend/cpu/foreach_target.h"

#include "ops/conv/channel_lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace opkit::ops::conv {
namespace HWY_NAMESPACE {

using V = vectors::FloatVec;
#if HWY_TARGET <= HWY_AVX3 || HWY_TARGET == HWY_NEON  // 32 registers
constexpr int kTileRows = 8;
constexpr int kTileVecs = 3;
#else
constexpr int kTileRows = 6;
constexpr int kTileVecs = 2;
#endif

/// Steps of the depth that are summed for all tiles in turn: a panel of their weights stays in the first-level cache.
constexpr int64_t kDepthBlock = 192;

DirectTile directTileOf() { return {kTileRows, kTileVecs, kLanes}; }

constexpr int64_t kLineFloats = 16;

/// One register tile over one depth block.
struct Tile {
  const float* image;
  const int64_t* offsets;
  int64_t depth;
  const float* weights;
  const float* next;  // weights that are fetched into the second-level cache, a line per step
  float* sums;        // [vector][position][lane]: of the block before, and of this one
  bool first;
  bool last;
  const float* bias;  // [vector][lane], or null
  bool clamps;
  float low;
  float high;
};

/// Adds the bias and clamps.
template <int kRows, int kVecs>
HWY_INLINE void finishSums(const Tile& tile, V (&sum)[kRows][kVecs]) {
  if (tile.bias) {
    HWY_UNROLL(3) for (int v = 0; v < kVecs; ++v) {
      const V bias = vectors::load(tile.bias + v * kLanes);
      HWY_UNROLL(8) for (int r = 0; r < kRows; ++r) sum[r][v] = hn::Add(sum[r][v], bias);
    }
  }
  if (!tile.clamps) return;
  const V low = vectors::set(tile.low), high = vectors::set(tile.high);
  HWY_UNROLL(8) for (int r = 0; r < kRows; ++r) {
    HWY_UNROLL(3) for (int v = 0; v < kVecs; ++v) {
      // Not Min and Max: comparisons keep a NaN on every instruction set.
      const V raised = hn::IfThenElse(hn::Lt(sum[r][v], low), low, sum[r][v]);
      sum[r][v] = hn::IfThenElse(hn::Gt(raised, high), high, raised);
    }
  }
}

template <int kRows, int kVecs>
HWY_NOINLINE void sumTile(const Tile& tile, const int64_t* positions) {
  const vectors::FloatTag d;
  V sum[kRows][kVecs];
  HWY_UNROLL(8) for (int r = 0; r < kRows; ++r) {
    HWY_UNROLL(3)
    for (int v = 0; v < kVecs; ++v)
      sum[r][v] = tile.first ? hn::Zero(d) : hn::Load(d, tile.sums + (v * kTileRows + r) * kLanes);
  }
  const float* rows[kRows];
  HWY_UNROLL(8) for (int r = 0; r < kRows; ++r) rows[r] = tile.image + positions[r];
  const float* HWY_RESTRICT weights = tile.weights;
  const int64_t* HWY_RESTRICT offsets = tile.offsets;
  const float* next = tile.next;
  for (int64_t p = 0; p < tile.depth; ++p, weights += kVecs * kLanes) {
    const int64_t offset = offsets[p];
    __builtin_prefetch(next, 0, 2);
    next += kLineFloats;
    V weight[kVecs];
    HWY_UNROLL(3) for (int v = 0; v < kVecs; ++v) weight[v] = hn::Load(d, weights + v * kLanes);
    HWY_UNROLL(8) for (int r = 0; r < kRows; ++r) {
      const V element = hn::Set(d, rows[r][offset]);
      HWY_UNROLL(3) for (int v = 0; v < kVecs; ++v) sum[r][v] = hn::MulAdd(element, weight[v], sum[r][v]);
    }
  }
  if (tile.last) finishSums(tile, sum);
  HWY_UNROLL(8) for (int r = 0; r < kRows; ++r) {
    HWY_UNROLL(3) for (int v = 0; v < kVecs; ++v) hn::Store(sum[r][v], d, tile.sums + (v * kTileRows + r) * kLanes);
  }
}

using TileFn = void (*)(const Tile&, const int64_t*);

/// The kernel of a tile of `rows` x `vecs`, found by recursion over the template's range.
template <int kRows = kTileRows, int kVecs = kTileVecs>
TileFn tileFn(int64_t rows, int64_t vecs) {
  if constexpr (kVecs > 1) {
    if (vecs < kVecs) return tileFn<kRows, kVecs - 1>(rows, vecs);
  }
  if constexpr (kRows > 1) {
    if (rows < kRows) return tileFn<kRows - 1, kVecs>(rows, vecs);
  }
  return &sumTile<kRows, kVecs>;
}

/// Writes the sums of a tile to the planes of its channels.
void scatterTile(const DirectTask& task, int64_t channel, int64_t vecs, int64_t position, int64_t rows,
                 const float* sums) {
  for (int64_t v = 0; v < vecs; ++v, channel += kLanes, sums += kTileRows * kLanes)
    scatterPositions(sums, {task.planeStride, std::min(kLanes, task.outputs - channel)}, rows,
                     task.to + channel * task.planeStride + position);
}

struct Panel {
  int64_t firstVec;
  int64_t vecs;
};

Panel panelOf(int64_t outputs, int64_t panel) {
  const int64_t all = (outputs + kLanes - 1) / kLanes, panels = (all + kTileVecs - 1) / kTileVecs;
  return {all * panel / panels, all * (panel + 1) / panels - all * panel / panels};
}

/// Walks the positions of a task: where the image has the elements that each reads.
class PositionWalk {
 public:
  explicit PositionWalk(const DirectTask& task)
      : length_(task.runLength),
        stride_(task.runStride),
        run_(task.firstPosition / length_ * stride_),
        inRun_(task.firstPosition % length_) {}
  void take(int64_t count, int64_t* offsets) {
    for (int64_t r = 0; r < count; ++r) {
      offsets[r] = run_ + inRun_;
      if (++inRun_ < length_) continue;
      inRun_ = 0;
      run_ += stride_;
    }
  }

 private:
  int64_t length_, stride_;
  int64_t run_, inRun_;
};

void convolvePanel(const DirectTask& task, const Panel& panel) {
  const int64_t channel = panel.firstVec * kLanes, count = task.endPosition - task.firstPosition;
  const int64_t tiles = ceilDiv(count, kTileRows), rowsLeft = count % tiles;
  HWY_ALIGN float bias[kTileVecs * kLanes] = {};
  if (task.bias) std::copy_n(task.bias + channel, std::min(panel.vecs * kLanes, task.outputs - channel), bias);
  Tile tile{.image = task.image,
            .offsets = task.offsets,
            .weights = task.weights + channel * task.depth,
            .bias = task.bias ? bias : nullptr,
            .clamps = task.low > -std::numeric_limits<float>::infinity() ||
                      task.high < std::numeric_limits<float>::infinity(),
            .low = task.low,
            .high = task.high};
  int64_t begin = 0;
  do {  // once if the depth is 0, which gives the bias
    tile.depth = std::min(kDepthBlock, task.depth - begin);
    tile.first = begin == 0;
    tile.last = begin + tile.depth == task.depth;
    tile.sums = task.scratch;
    tile.next = tile.weights + tile.depth * panel.vecs * kLanes;
    PositionWalk walk(task);
    int64_t position = task.firstPosition;
    for (int64_t t = 0; t < tiles; ++t) {
      const int64_t rows = count / tiles + (t < rowsLeft ? 1 : 0);
      int64_t offsets[kTileRows];
      walk.take(rows, offsets);
      tileFn(rows, panel.vecs)(tile, offsets);
      if (tile.last) scatterTile(task, channel, panel.vecs, position, rows, tile.sums);
      if (!tile.first || !tile.last) tile.sums += kTileRows * kTileVecs * kLanes;
      tile.next += tile.depth * kLineFloats;
      position += rows;
    }
    tile.offsets += tile.depth;
    tile.weights += tile.depth * panel.vecs * kLanes;
    begin += tile.depth;
  } while (begin < task.depth);
}

void convolvePanels(const DirectTask& task) {
  for (int64_t p = task.firstPanel; p < task.endPanel; ++p) convolvePanel(task, panelOf(task.outputs, p));
}

void packPanels(const float* weights, int64_t outputs, int64_t depth, int64_t panels, float* to) {
  for (int64_t i = 0; i < panels; ++i) {
    const Panel panel = panelOf(outputs, i);
    for (int64_t p = 0; p < depth; ++p)
      for (int64_t c = panel.firstVec * kLanes; c < (panel.firstVec + panel.vecs) * kLanes; ++c)
        *to++ = c < outputs ? weights[c * depth + p] : 0.0f;
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace opkit::ops::conv
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opkit::ops::conv {

HWY_EXPORT(directTileOf);
HWY_EXPORT(convolvePanels);
HWY_EXPORT(packPanels);

DirectTile directTile() { return HWY_DYNAMIC_DISPATCH(directTileOf)(); }

int64_t directPanels(int64_t outputs) {
  const DirectTile tile = directTile();
  return ceilDiv(outputs, tile.lanes * tile.vecs);
}

int64_t directWeightFloats(int64_t outputs, int64_t depth) { return roundUp(outputs, directTile().lanes) * depth; }

int64_t directScratchFloats(int64_t positions) {
  const DirectTile tile = directTile();
  return roundUp(positions, tile.positions) * tile.vecs * tile.lanes;
}

void packDirect(const float* weights, int64_t outputs, int64_t depth, float* to) {
  HWY_DYNAMIC_DISPATCH(packPanels)(weights, outputs, depth, directPanels(outputs), to);
}

void convolveDirect(const DirectTask& task) { HWY_DYNAMIC_DISPATCH(convolvePanels)(task); }

}  // namespace opkit::ops::conv
#endif
