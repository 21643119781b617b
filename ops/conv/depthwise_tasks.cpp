#include "ops/conv/depthwise_tasks.h"

#include <algorithm>

#include "engine/base/divide.h"

namespace opkit::ops::conv {
namespace {
constexpr int64_t kMostBlockFloats = 1 << 17;  // of scratch: a quarter of a second-level cache of 2 MB
constexpr int64_t kLeastRowsPerTask = 8;       // rows of outputs; the rows above them are transposed twice
}  // namespace

DepthwiseTasks::DepthwiseTasks(const ConvPlan& plan, const PaddedVolume& volume, const ThreadPool& pool)
    : groups_(plan.groups) {
  const int64_t lanes = depthwiseLanes();
  const WindowAxis &deep = volume.deep(), &height = volume.axes()[0];
  const bool isFlat = deep.kernel == 1 && deep.input == 1 && deep.output == 1;
  if (!isFlat || plan.groupOutputs != 1 || lanes == 1 || plan.groups * 2 < lanes) return;
  if (height.kernel > kMaxDepthwiseRows) return;
  shape_ = DepthwiseShape(height, volume.axes()[1]);
  if (shape_.scratchFloats() > kMostBlockFloats) return;
  blocks_ = ceilDiv(plan.groups, lanes);
  const auto wanted = pool.threadCount() == 1 ? 1 : static_cast<int64_t>(pool.threadCount()) * 4;
  const int64_t most = pool.splitsAll() ? height.output : std::max<int64_t>(height.output / kLeastRowsPerTask, 1);
  const int64_t parts = std::clamp<int64_t>(wanted / (plan.batch * blocks_), 1, most);
  rowsPerTask_ = ceilDiv(height.output, parts);
  parts_ = ceilDiv(height.output, rowsPerTask_);
  count_ = plan.batch * blocks_ * parts_;
}

DepthwiseTasks::Task DepthwiseTasks::at(int64_t index) const {
  const int64_t channel = index / parts_ % blocks_ * shape_.lanes();
  const int64_t row = index % parts_ * rowsPerTask_;
  return {.plane = index / (parts_ * blocks_) * groups_ + channel,
          .channel = channel,
          .channels = std::min(shape_.lanes(), groups_ - channel),
          .firstRow = row,
          .endRow = std::min(row + rowsPerTask_, shape_.height().output)};
}

}  // namespace opkit::ops::conv
