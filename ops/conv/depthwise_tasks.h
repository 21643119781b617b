// DepthwiseTasks: how a depthwise convolution on the CPU is cut into tasks, for images of floats and of bytes.
#pragma once

#include "engine/base/thread_pool.h"
#include "ops/conv/conv.h"
#include "ops/conv/conv_depthwise_block_vectors.h"
#include "ops/conv/padded_volume.h"

namespace opkit::ops::conv {

/// Parts of the rows of blocks of channels of the images of a batch.
class DepthwiseTasks {
 public:
  struct Task {
    int64_t plane;    // the first of the block, of all planes of the batch
    int64_t channel;  // the same within its image
    int64_t channels;
    int64_t firstRow, endRow;  // of the outputs
  };

  DepthwiseTasks() = default;
  /// Without tasks where blocks do not fit: volumes, several outputs per channel, few channels, and rows too wide for
  /// the cache. REQUIRES outputs.
  DepthwiseTasks(const ConvPlan& plan, const PaddedVolume& volume, const ThreadPool& pool);

  int64_t count() const { return count_; }
  Task at(int64_t index) const;
  const DepthwiseShape& shape() const { return shape_; }

 private:
  DepthwiseShape shape_;
  int64_t groups_ = 0;
  int64_t blocks_ = 0;  // of an image
  int64_t parts_ = 0;   // of the rows of a block
  int64_t rowsPerTask_ = 0;
  int64_t count_ = 0;
};

}  // namespace opkit::ops::conv
