// HostRaster: the raster kernel of the host backends. Regions of any rank, elements of 1, 2, 4 or 8 bytes.
//
// onResize turns each region into nested loops over elements, contiguous runs innermost, and cuts large ones into parts
// for the threads of a pool; onExecute only copies. Regions run in order, since later ones may overwrite earlier ones.
#pragma once

#include <vector>

#include "engine/backend/backend.h"
#include "engine/base/thread_pool.h"

namespace opkit {

class HostRaster final : public RasterExecution {
 public:
  /// `pool` may be null: then everything runs on the caller's thread.
  explicit HostRaster(Backend& backend, ThreadPool* pool = nullptr) : backend_(backend), pool_(pool) {}

  void setRegions(RegionList regions) override { list_ = std::move(regions); }
  /// `inputs` are the sources that the regions name, `outputs` the one destination. All of one dtype.
  Status onResize(TensorList inputs, TensorList outputs) override;
  Status onExecute(TensorList inputs, TensorList outputs) override;

 private:
  /// A region that is copied by one thread.
  struct Part {
    Region region;                  // collapsed, destination-major, never an empty box
    std::vector<int64_t> position;  // scratch: the multi-index of the outer loops
  };
  template <class T>
  void copyParts(TensorList inputs, const Tensor& output);

  Backend& backend_;
  ThreadPool* pool_;
  RegionList list_;
  std::vector<std::vector<Part>> parts_;  // per region
};

/// `region` with its dimensions ordered by descending destination stride and merged where possible.
Region planRegion(const Region& region);

/// Cuts a planned region along its largest dimension into up to `count` regions that together copy the same elements.
std::vector<Region> splitRegion(const Region& region, int64_t count);

}  // namespace opkit
