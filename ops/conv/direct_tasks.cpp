#include "ops/conv/direct_tasks.h"

namespace opkit::ops::conv {
namespace {

constexpr int64_t kMostPositions = 256;         // that a panel of weights serves in turn
constexpr int64_t kLeastPositions = 64;         // of a task that could have fewer panels: it reads all their weights
constexpr int64_t kMostBandElements = 1 << 17;  // of padded rows: a quarter of a second-level cache of 2 MB
constexpr int64_t kMostOverlap = 4;             // rows that a band pads / rows that it needs by itself
constexpr double kLeastTaskWork = 1 << 17;      // multiply-adds of elements
constexpr int64_t kTasksPerThread = 4;          // more than one, so that a preempted thread does not delay the rest

}  // namespace

DirectTasks::DirectTasks(const ConvPlan& plan, const PaddedVolume& volume, int64_t channels, const DirectTile& tile,
                         const ThreadPool& pool)
    : tile_(tile),
      batch_(plan.batch),
      groups_(plan.groups),
      channels_(channels),
      taps_(plan.kernelTaps()),
      planes_(volume.deep().output),
      rows_(volume.axes()[0].output),
      positions_(rows_ * volume.axes()[1].output),
      panels_(ceilDiv(plan.groupOutputs, tile.lanes * tile.vecs)) {
  panelsPerTask_ = panels_;
  const int64_t tasks = wanted(plan, pool);
  planBands(volume, pool, tasks);
  const int64_t together = rowsPerBand_ > 0 ? rowsPerBand_ * volume.axes()[1].output : positions_;
  positionsPerTask_ = tilesOf(ceilDiv(together, std::max<int64_t>(ceilDiv(together, kMostPositions), 1)));
  if (rowsPerBand_ == 0) planShared(volume, pool, tasks);
}

int64_t DirectTasks::wanted(const ConvPlan& plan, const ThreadPool& pool) const {
  const auto threads = static_cast<int64_t>(pool.threadCount());
  if (threads == 1) return 1;
  if (pool.splitsAll()) return 1 << 20;
  const double work = static_cast<double>(plan.groupOutputs) * static_cast<double>(depth()) *
                      static_cast<double>(positions_) * static_cast<double>(groups_ * planes_);
  return std::clamp<int64_t>(static_cast<int64_t>(work / kLeastTaskWork), 1, kTasksPerThread * threads);
}

/// rowsPerBand_ stays 0 if there are too few rows for all threads, for volumes, and if dilated windows overlap so far
/// that most of what a band pads is padded by others too.
void DirectTasks::planBands(const PaddedVolume& volume, const ThreadPool& pool, int64_t wanted) {
  const WindowAxis& deep = volume.deep();
  const PaddedImage& image = volume.image();
  if (deep.kernel > 1 || deep.input > 1 || rows_ == 0) return;
  const auto threads = static_cast<int64_t>(pool.threadCount());
  const int64_t each = ceilDiv(wanted, std::max<int64_t>(groups_ * batch_, 1));
  const int64_t most = std::max<int64_t>(rows_ / (2 * ceilDiv(image.rowsOf(1), image.rowsPerOutput())), 1);
  const int64_t fewest = each == 1 ? 1 : std::min(threads, each);
  if (most < fewest && !pool.splitsAll()) return;
  int64_t bands = std::clamp(each, fewest, std::max(most, fewest));
  if (bands > threads) bands = bands / threads * threads;
  const auto elements = [&](int64_t rows) { return channels_ * image.rowsOf(rows) * image.rowElements(); };
  while (bands < rows_ && elements(ceilDiv(rows_, bands)) > kMostBandElements) bands += fewest;
  const int64_t rows = ceilDiv(rows_, std::min(bands, rows_));
  if (image.rowsOf(rows) > kMostOverlap * rows * image.rowsPerOutput() && !pool.splitsAll()) return;
  rowsPerBand_ = rows;
  channelElements_ = image.rowsOf(rows) * image.rowElements();
}

/// Halves a side of the tasks until there are enough.
void DirectTasks::planShared(const PaddedVolume& volume, const ThreadPool& pool, int64_t wanted) {
  channelElements_ = volume.channelElements();
  const auto threads = static_cast<int64_t>(pool.threadCount());
  if (wanted > 1 && rows_ >= 4 * threads) fillParts_ = threads;
  while (tasks() < wanted) {
    const bool morePositions = positionsPerTask_ > tile_.positions;
    if (panelsPerTask_ > 1 && (positionsPerTask_ <= kLeastPositions || !morePositions))
      panelsPerTask_ = ceilDiv(panelsPerTask_, 2);
    else if (morePositions)
      positionsPerTask_ = tilesOf(positionsPerTask_ / 2);
    else
      break;
  }
}

std::vector<int64_t> DirectTasks::offsets(const PaddedVolume& volume) const {
  std::vector<int64_t> offsets;
  const std::vector<int64_t> taps = volume.tapOffsets();
  for (int64_t c = 0; c < channels_; ++c)
    for (const int64_t tap : taps) offsets.push_back(c * channelElements_ + tap);
  return offsets;
}

}  // namespace opkit::ops::conv
