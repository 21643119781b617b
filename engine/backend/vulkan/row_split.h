// RowSplit: rows divided into parts, for folds of few long rows. A first dispatch folds the parts of every row into
// scratch memory, a second one joins them; with one team per row most of the device would idle.
#pragma once

#include "engine/backend/vulkan/vulkan_execution.h"

namespace opkit::vulkan {

struct RowSplit {
  int64_t parts = 1;
  int64_t length = 0;  // elements of a part; the last one may be shorter

  bool isSplit() const { return parts > 1; }

  /// One part if the groups for `work` fill the device, or if parts would be too short.
  static RowSplit of(const RowWork& work, const DeviceCaps& device);
  /// The first dispatch: team i folds part i / rows of row i % rows.
  RowWork folding(const RowWork& work) const;
  /// The second dispatch joins [parts, rows].
  RowWork joining(const RowWork& work) const;
};

/// The type in which shaders compute `dtype` (ARITH of storage.glsl), for scratch memory.
DType arithmeticOf(DType dtype);

}  // namespace opkit::vulkan
