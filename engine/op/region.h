// Region: a strided copy of one box of elements, the result of lowering.
//
// Operators that only move data have regions instead of kernels; one Raster kernel per backend executes them. Element
// (i0, i1, ...) of the box goes from source element sourceOffset + sum(i*sourceStride) to destination element
// offset + sum(i*stride). Offsets and strides count elements and may be zero (repeat) or negative (mirror).
#pragma once

#include <cstdint>
#include <vector>

#include "engine/base/status.h"
#include "engine/tensor/dtype.h"
#include "engine/tensor/shape.h"

namespace opkit {

struct Region {
  int source = 0;  // which input of the operator
  int64_t sourceOffset = 0;
  int64_t offset = 0;
  Shape size;
  DimVector sourceStrides;
  DimVector strides;
};

/// One whole output as disjoint regions. Elements outside all regions get the fill.
struct RegionList {
  enum class Fill {
    None,   // the regions cover every element
    Zero,   // all-zero bits
    Input,  // the single element of input `fillInput`
  };
  std::vector<Region> regions;
  Fill fill = Fill::None;
  int fillInput = -1;
};

/// A region that copies `count` contiguous elements.
Region contiguousRegion(int source, int64_t sourceOffset, int64_t offset, int64_t count);

/// Drops extents of 1 and merges neighbouring dimensions that are contiguous in both source and destination.
Region collapse(const Region& region);

/// The region as a raster copies it: its units are bytes if elements of `dtype` share them. Unsupported unless such a
/// region copies a run that begins with both tensors.
Result<Region> inUnits(const Region& region, DType dtype);

}  // namespace opkit
