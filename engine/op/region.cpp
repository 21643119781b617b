#include "engine/op/region.h"

namespace opkit {

Region contiguousRegion(int source, int64_t sourceOffset, int64_t offset, int64_t count) {
  return {source, sourceOffset, offset, {count}, {1}, {1}};
}

Region collapse(const Region& region) {
  Region result{region.source, region.sourceOffset, region.offset, {}, {}, {}};
  for (size_t d = 0; d < region.size.size(); ++d) {
    const int64_t size = region.size[d];
    if (size == 1) continue;
    const bool merges = !result.size.empty() && result.sourceStrides.back() == size * region.sourceStrides[d] &&
                        result.strides.back() == size * region.strides[d];
    if (merges) {
      result.size.back() *= size;
      result.sourceStrides.back() = region.sourceStrides[d];
      result.strides.back() = region.strides[d];
    } else {
      result.size.push_back(size);
      result.sourceStrides.push_back(region.sourceStrides[d]);
      result.strides.push_back(region.strides[d]);
    }
  }
  return result;
}

Result<Region> inUnits(const Region& region, DType dtype) {
  if (!isPacked(dtype)) return region;
  const Region run = collapse(region);
  const bool isRun = run.size.size() <= 1 && (run.size.empty() || (run.strides[0] == 1 && run.sourceStrides[0] == 1));
  if (!isRun || run.offset != 0 || run.sourceOffset != 0)
    return Status::unsupported("raster: elements of {} share bytes and cannot be moved one by one", nameOf(dtype));
  const auto bytes = static_cast<int64_t>(bytesOf(dtype, elementCount(region.size)));
  return contiguousRegion(region.source, 0, 0, bytes);
}

}  // namespace opkit
