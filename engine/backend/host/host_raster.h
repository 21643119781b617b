// HostRaster: the raster kernel of the host backends. Regions of any rank, elements of 1, 2, 4 or 8 bytes.
//
// onResize turns each region into nested loops over bytes, contiguous runs innermost; onExecute only copies.
#pragma once

#include <vector>

#include "engine/backend/backend.h"

namespace opkit {

class HostRaster final : public RasterExecution {
 public:
  explicit HostRaster(Backend& backend) : backend_(backend) {}

  void setRegions(RegionList regions) override { list_ = std::move(regions); }
  /// `inputs` are the sources that the regions name, `outputs` the one destination. All of one dtype.
  Status onResize(TensorList inputs, TensorList outputs) override;
  Status onExecute(TensorList inputs, TensorList outputs) override;

 private:
  Backend& backend_;
  RegionList list_;
  std::vector<Region> plans_;      // collapsed, destination-major, never empty boxes
  std::vector<int64_t> position_;  // scratch: the multi-index of the outer loops
};

/// `region` with its dimensions ordered by descending destination stride and merged where possible.
Region planRegion(const Region& region);

}  // namespace opkit
