// Rows: a tensor as [outer, extent, inner] around one or several neighbouring axes, or around groups of channels. For
// operators that process the elements of a row together (Softmax, norms, reductions over one axis). A value;
// thread-safe.
#pragma once

#include "engine/tensor/shape.h"

namespace opkit {

struct Rows {
  int64_t outer;
  int64_t extent;  // elements processed together
  int64_t inner;   // distance between them, in elements

  int64_t count() const { return outer * inner; }
  /// Element `i` of a row in [0, count()).
  size_t at(int64_t row, int64_t i) const {
    return static_cast<size_t>((row / inner * extent + i) * inner + row % inner);
  }
};

/// The rows along axes [first, last) of `shape`.
inline Rows rowsBetween(const Shape& shape, size_t first, size_t last) {
  return {elementCount(shape, 0, first), elementCount(shape, first, last), elementCount(shape, last, shape.size())};
}

/// The rows along `axis`, counted from the end when negative; REQUIRES an axis that normalizeAxis accepts.
inline Rows rowsAlong(const Shape& shape, int64_t axis) {
  const auto first = static_cast<size_t>(*normalizeAxis(axis, shape.size()));
  return rowsBetween(shape, first, first + 1);
}

/// The rows over every axis from `axis` on; REQUIRES an axis that normalizeAxis accepts.
inline Rows rowsFrom(const Shape& shape, int64_t axis) {
  return rowsBetween(shape, static_cast<size_t>(*normalizeAxis(axis, shape.size())), shape.size());
}

/// Rows that are groups of channels of [batch, channels, ...], each with its spatial axes.
struct GroupRows : Rows {
  int64_t groups;
  int64_t channels;  // of all groups
  int64_t spatial;   // elements of one channel

  /// The channel of element `i` of a row.
  size_t channelAt(int64_t row, int64_t i) const {
    return static_cast<size_t>(row % groups * (channels / groups) + i / spatial);
  }
};

/// The rows of `groups` groups of channels; REQUIRES what checkGroups (shape_rules.h) accepts.
inline GroupRows rowsOfGroups(const Shape& shape, int64_t groups) {
  const int64_t channels = shape[1], spatial = elementCount(shape, 2, shape.size());
  return {{shape[0] * groups, channels / groups * spatial, 1}, groups, channels, spatial};
}

}  // namespace opkit
