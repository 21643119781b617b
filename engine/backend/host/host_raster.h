// HostRaster: the kernel of Raster on the host backends. Regions of any rank, elements of 1, 2, 4 or 8 bytes.
//
// onResize turns each region into nested loops over elements, contiguous runs innermost, and cuts large ones into parts
// for the threads of a pool; onExecute only copies. Regions run in order, since later ones may overwrite earlier ones.
#pragma once

#include <optional>
#include <vector>

#include "engine/backend/host/host_execution.h"
#include "engine/base/thread_pool.h"

namespace opkit {

class HostRaster final : public HostExecution {
 public:
  HostRaster(const CreateArgs& args, Backend& backend, ThreadPool& pool)
      : HostExecution(backend), pool_(pool), list_(*args.regions) {}

  Status onResize(TensorList inputs, TensorList outputs) override;

 protected:
  Status onRun(TensorList inputs, TensorList outputs) override;

 private:
  template <class T>
  void fill(T value, T* target, int64_t count) const;
  template <class T>
  void copyParts(TensorList inputs, const Tensor& output);

  ThreadPool& pool_;
  RegionList list_;
  std::optional<Region> only_;              // the planned region, if there is one alone
  std::vector<std::vector<Region>> parts_;  // per region: planned ones, each copied by one thread; no empty boxes
};

/// Takes every raster; `poolOf` gives the threads of a Backend.
Creator hostRasterCreator(ThreadPool& (*poolOf)(Backend& backend));

/// `region` with its dimensions ordered by descending destination stride and merged where possible.
Region planRegion(const Region& region);

/// Cuts a planned region along its largest dimension into up to `count` regions that together copy the same elements.
std::vector<Region> splitRegion(const Region& region, int64_t count);

}  // namespace opkit
