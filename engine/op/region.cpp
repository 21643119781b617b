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

}  // namespace opkit
