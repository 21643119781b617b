// Shape: the extents of a tensor, outermost first, and the arithmetic that operators share.
//
// A rank-0 shape is a scalar and holds one element. Extents are never negative once a shape is known;
// kDynamic stands for "not known yet" in a model's declared inputs.
#pragma once

#include <cstdint>
#include <string>

#include "engine/base/status.h"
#include "engine/tensor/dim_vector.h"

namespace opkit {

using Shape = DimVector;

inline constexpr int64_t kDynamic = -1;
/// No tensor may hold more elements than this; larger is reported, never attempted.
inline constexpr int64_t kMaxElements = int64_t{1} << 40;

/// Product of the extents; 1 for a scalar.
int64_t elementCount(const Shape& shape);
/// Product of extents [begin, end).
int64_t elementCount(const Shape& shape, size_t begin, size_t end);
/// InvalidArgument if an extent is negative or the product exceeds kMaxElements.
Status checkShape(const Shape& shape);
/// Row-major element strides; [] for a scalar.
DimVector contiguousStrides(const Shape& shape);
/// NumPy broadcasting; InvalidArgument names both shapes.
Result<Shape> broadcastShapes(const Shape& a, const Shape& b);
/// Strides that read a tensor of shape `from` as if it had shape `to`: 0 where it is repeated.
DimVector broadcastStrides(const Shape& from, const Shape& to);
/// Maps axis in [-rank, rank) to [0, rank); InvalidArgument otherwise.
Result<int> normalizeAxis(int64_t axis, size_t rank);
/// "[1,3,224,224]"; kDynamic prints as "?".
std::string toString(const Shape& shape);

/// Calls body(index) for every multi-index of `shape` in row-major order; once for a scalar, never if empty.
template <class Body>
void forEachIndex(const Shape& shape, Body&& body) {
  const int64_t count = elementCount(shape);
  DimVector index(shape.size());
  for (int64_t i = 0; i < count; ++i) {
    body(std::as_const(index));
    for (size_t d = shape.size(); d-- > 0;) {
      if (++index[d] < shape[d]) break;
      index[d] = 0;
    }
  }
}

}  // namespace opkit
