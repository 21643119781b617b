// Elements of oracle tensors by their coordinates, for oracles alone: kernels and lowerings walk with strides and
// offsets, so a mistake in those shows when both are compared. Plain and slow. Pure functions, thread-safe.
#pragma once

#include <algorithm>

#include "engine/base/check.h"
#include "engine/op/loop_region.h"
#include "engine/op/oracle.h"

namespace opkit {

/// One index per axis, outermost first; none for a scalar.
using Coordinates = std::vector<int64_t>;

/// An axis counted from the front; REQUIRES one that the shape rule accepted.
inline size_t axisFromFront(int64_t axis, size_t rank) {
  return axis < 0 ? rank - static_cast<size_t>(-axis) : static_cast<size_t>(axis);
}

/// Maps an index in [-extent, extent) to [0, extent); badIndex otherwise.
inline Result<int64_t> resolveIndex(const std::string& type, int64_t index, int64_t extent) {
  const int64_t fromFront = index < 0 ? extent + index : index;
  if (fromFront < 0 || fromFront >= extent) return badIndex(type, extent, index);
  return fromFront;
}

/// Calls body(i, at) for element i = 0, 1, ... of a tensor of this shape, row-major, with its coordinates. The body may
/// change them.
template <class Body>
void forEachCoordinates(const Shape& shape, Body&& body) {
  const auto count = static_cast<size_t>(elementCount(shape));
  Coordinates at;
  for (size_t i = 0; i < count; ++i) {
    at.assign(shape.size(), 0);
    auto rest = static_cast<int64_t>(i);
    for (size_t d = shape.size(); rest > 0; rest /= shape[d]) {
      --d;
      at[d] = rest % shape[d];
    }
    body(i, at);
  }
}

/// The row-major number of the element with these coordinates; REQUIRES coordinates inside the shape.
inline size_t elementAt(const Shape& shape, const Coordinates& at) {
  OPKIT_CHECK(at.size() == shape.size());
  int64_t element = 0;
  for (size_t d = 0; d < shape.size(); ++d) {
    OPKIT_CHECK(at[d] >= 0 && at[d] < shape[d]);
    element = element * shape[d] + at[d];
  }
  return static_cast<size_t>(element);
}

/// The element that output coordinates `at` read of an operand that broadcasts as in NumPy: axes match from the last
/// on, and an axis of extent 1 repeats.
inline size_t broadcastElementAt(const Shape& operand, const Coordinates& at) {
  OPKIT_CHECK(operand.size() <= at.size());
  int64_t element = 0;
  for (size_t d = 0, axis = at.size() - operand.size(); d < operand.size(); ++d, ++axis) {
    OPKIT_CHECK(operand[d] == 1 || at[axis] < operand[d]);
    element = element * operand[d] + (operand[d] == 1 ? 0 : at[axis]);
  }
  return static_cast<size_t>(element);
}

/// Element `i` of `to` becomes element `source` of `from`, which has elements of the same kind.
inline void copyElement(const OracleTensor& from, size_t source, OracleTensor& to, size_t i) {
  visitElements(from, to, [&](const auto& x, auto& y) { y[i] = x[source]; });
}

/// The same with the coordinates of the source.
inline void copyElement(const OracleTensor& from, const Coordinates& source, OracleTensor& to, size_t i) {
  copyElement(from, elementAt(from.shape(), source), to, i);
}

/// Calls body(group, elements) for each group of elements that differ along the axes marked in `together` alone: rows
/// along an axis, what a reduction folds. Groups and their elements come in row-major order.
template <class Body>
void forEachGroup(const Shape& shape, const std::vector<bool>& together, Body&& body) {
  Shape across = shape, along = shape;
  for (size_t d = 0; d < shape.size(); ++d) (together[d] ? across : along)[d] = 1;
  std::vector<size_t> elements;
  forEachCoordinates(across, [&](size_t group, const Coordinates& first) {
    elements.clear();
    forEachCoordinates(along, [&](size_t, Coordinates& at) {
      for (size_t d = 0; d < at.size(); ++d) at[d] += first[d];
      elements.push_back(elementAt(shape, at));
    });
    body(group, std::as_const(elements));
  });
}

/// The same along one axis, which may be counted from the end.
template <class Body>
void forEachRowAlong(const Shape& shape, int64_t axis, Body&& body) {
  std::vector<bool> together(shape.size(), false);
  together[axisFromFront(axis, shape.size())] = true;
  forEachGroup(shape, together, body);
}

/// Brings floating elements into [low, high]; NaN stays NaN.
inline void clampReals(OracleTensor& y, double low, double high) {
  for (double& value : y.real) value = std::min(std::max(value, low), high);
}

/// The terms that the error of a normalised row grows with. Kernels compensate long sums, or add them in double: from
/// 64 elements on the error stays that of a few roundings, measured 8 u up to a million elements.
inline int64_t termsOfNorm(size_t count) { return static_cast<int64_t>(std::min<size_t>(count, 64)); }

/// Internal unless the oracle's positions along each axis are as many as the shape rule's extents.
inline Status requireExtents(const Shape& shape, const std::vector<std::vector<int64_t>>& positions) {
  for (size_t d = 0; d < positions.size(); ++d)
    if (d >= shape.size() || static_cast<int64_t>(positions[d].size()) != shape[d])
      return Status::internal("the oracle has {} positions along axis {}, the shape rule gave {}", positions[d].size(),
                              d, toString(shape));
  return Status::ok();
}

}  // namespace opkit
