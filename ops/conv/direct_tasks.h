// DirectTasks: how a direct convolution on the CPU is cut into tasks, for images of floats and of words of four bytes.
//
// A task is a rectangle of positions of outputs and of panels of output channels. Where there are rows enough, tasks
// are bands of rows, and each pads the rows that it reads, so they stay in its cache; else all share one padded image.
#pragma once

#include <algorithm>
#include <functional>

#include "engine/base/divide.h"
#include "engine/base/thread_pool.h"
#include "ops/conv/conv.h"
#include "ops/conv/padded_volume.h"

namespace opkit::ops::conv {

/// A register tile of the instruction set in use.
struct DirectTile {
  int64_t positions;
  int64_t vecs;   // of channels
  int64_t lanes;  // of a vector
};

class DirectTasks {
 public:
  /// A band of rows of outputs of one image and group.
  struct Band {
    int64_t image, group, row, rows;
  };
  /// Of one group and plane z of outputs.
  struct Rectangle {
    int64_t group, z, firstPosition, endPosition, firstPanel, endPanel;
  };

  DirectTasks() = default;
  /// `channels` elements of a group lie at each position of the image. `volume` is of one channel.
  DirectTasks(const ConvPlan& plan, const PaddedVolume& volume, int64_t channels, const DirectTile& tile,
              const ThreadPool& pool);

  /// Whether tasks pad their own rows.
  bool areBands() const { return rowsPerBand_ > 0; }
  int64_t positions() const { return positions_; }                // of a plane of outputs
  int64_t positionsPerTask() const { return positionsPerTask_; }  // of a band: that a panel of weights serves in turn
  int64_t panels() const { return panels_; }                      // of a group
  int64_t fillParts() const { return fillParts_; }                // of the rows of a plane that is padded
  int64_t depth() const { return channels_ * taps_; }             // steps of one output
  /// Between channels of the padded image or band.
  int64_t channelElements() const { return channelElements_; }
  /// Of one group of the padded image or band.
  int64_t groupElements() const { return channels_ * channelElements_; }
  /// Where each step of the depth, [channel][tap], lies in a group at position 0.
  std::vector<int64_t> offsets(const PaddedVolume& volume) const;

  /// Calls body(Band, thread), in the order of images, bands, groups.
  template <class Body>
  void forBands(ThreadPool& pool, const Body& body) const {
    const int64_t bands = ceilDiv(rows_, rowsPerBand_);
    const auto task = [&](size_t index, size_t thread) {
      const auto i = static_cast<int64_t>(index);
      const int64_t row = i / groups_ % bands * rowsPerBand_;
      body(Band{i / (bands * groups_), i % groups_, row, std::min(rowsPerBand_, rows_ - row)}, thread);
    };
    pool.parallelFor(static_cast<size_t>(batch_ * bands * groups_), std::ref(task));
  }

  /// Calls body(Rectangle, thread) for one image, in the order of planes of outputs, positions, groups, panels.
  template <class Body>
  void forRectangles(ThreadPool& pool, const Body& body) const {
    const auto task = [&](size_t index, size_t thread) {
      const auto i = static_cast<int64_t>(index);
      const int64_t position = i / (panelTasks() * groups_) % positionTasks() * positionsPerTask_;
      const int64_t panel = i % panelTasks() * panelsPerTask_;
      body(Rectangle{i / panelTasks() % groups_, i / (panelTasks() * groups_ * positionTasks()), position,
                     std::min(position + positionsPerTask_, positions_), panel,
                     std::min(panel + panelsPerTask_, panels_)},
           thread);
    };
    pool.parallelFor(static_cast<size_t>(tasks()), std::ref(task));
  }

 private:
  int64_t wanted(const ConvPlan& plan, const ThreadPool& pool) const;
  void planBands(const PaddedVolume& volume, const ThreadPool& pool, int64_t wanted);
  void planShared(const PaddedVolume& volume, const ThreadPool& pool, int64_t wanted);
  int64_t positionTasks() const { return ceilDiv(positions_, positionsPerTask_); }
  int64_t panelTasks() const { return ceilDiv(panels_, panelsPerTask_); }
  int64_t tasks() const { return planes_ * groups_ * positionTasks() * panelTasks(); }
  /// `positions` rounded up to whole tiles.
  int64_t tilesOf(int64_t positions) const {
    return std::max<int64_t>(roundUp(positions, tile_.positions), tile_.positions);
  }

  DirectTile tile_{};
  int64_t batch_ = 0, groups_ = 0, channels_ = 0, taps_ = 0;
  int64_t planes_ = 0, rows_ = 0;  // of outputs
  int64_t positions_ = 0;
  int64_t rowsPerBand_ = 0;  // of outputs; 0 if all tasks share a padded image
  int64_t positionsPerTask_ = 0;
  int64_t panels_ = 0;
  int64_t panelsPerTask_ = 0;
  int64_t fillParts_ = 1;
  int64_t channelElements_ = 0;
};

}  // namespace opkit::ops::conv
