#include "engine/tensor/shape.h"

#include <algorithm>

namespace opkit {

int64_t elementCount(const Shape& shape) { return elementCount(shape, 0, shape.size()); }

int64_t elementCount(const Shape& shape, size_t begin, size_t end) {
  const int64_t* extents = shape.data();  // once: shape[d] asks each time where they lie
  int64_t count = 1;
  for (size_t d = begin; d < end; ++d) count *= extents[d];
  return count;
}

Status checkShape(const Shape& shape) {
  int64_t count = 1;
  bool empty = false;
  for (int64_t extent : shape) {
    if (extent < 0)
      return Status::invalidArgument("shape {} has a negative extent; every extent must be 0 or more", toString(shape));
    empty = empty || extent == 0;
    if (extent > 0 && count > kMaxElements / extent)
      return Status::invalidArgument("shape {} holds more than 2^40 elements, the largest OpKit handles",
                                     toString(shape));
    count *= std::max<int64_t>(extent, 1);
  }
  return Status::ok();
}

DimVector contiguousStrides(const Shape& shape) {
  DimVector strides(shape.size(), 1);
  for (size_t d = shape.size(); d-- > 1;) strides[d - 1] = strides[d] * shape[d];
  return strides;
}

Result<Shape> broadcastShapes(const Shape& a, const Shape& b) {
  Shape out(std::max(a.size(), b.size()));
  for (size_t d = 0; d < out.size(); ++d) {
    const int64_t extentA = d + a.size() < out.size() ? 1 : a[d + a.size() - out.size()];
    const int64_t extentB = d + b.size() < out.size() ? 1 : b[d + b.size() - out.size()];
    if (extentA != extentB && extentA != 1 && extentB != 1)
      return Status::invalidArgument("shapes {} and {} do not broadcast: extents must be equal or 1", toString(a),
                                     toString(b));
    out[d] = extentA == 1 ? extentB : extentA;
  }
  return out;
}

DimVector broadcastStrides(const Shape& from, const Shape& to) {
  DimVector strides(to.size(), 0);
  const DimVector dense = contiguousStrides(from);
  for (size_t d = 0; d < from.size(); ++d)
    if (from[d] != 1) strides[d + to.size() - from.size()] = dense[d];
  return strides;
}

Result<int> normalizeAxis(int64_t axis, size_t rank) {
  const auto signedRank = static_cast<int64_t>(rank);
  if (axis < -signedRank || axis >= signedRank)
    return Status::invalidArgument("axis must be in [{}, {}], got {}", -signedRank, signedRank - 1, axis);
  return static_cast<int>(axis < 0 ? axis + signedRank : axis);
}

std::string toString(const Shape& shape) {
  std::string text = "[";
  for (size_t d = 0; d < shape.size(); ++d) {
    if (d > 0) text += ",";
    text += shape[d] == kDynamic ? "?" : std::to_string(shape[d]);
  }
  return text + "]";
}

}  // namespace opkit
