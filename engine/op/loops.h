// Loops: the nested loops of an element-wise operator over broadcast operands, merged into as few as possible.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "engine/base/check.h"
#include "engine/tensor/shape.h"

namespace opkit {

/// A box of elements of a row-major contiguous output, with the read strides of each operand.
struct Loops {
  Shape size;                      // outermost first
  std::vector<DimVector> strides;  // per operand, as long as size; 0 if the operand repeats
};

/// Loops of extents `size` with the given strides per operand. Drops extents of 1 and merges neighbours if every
/// operand allows it.
Loops mergeLoops(const Shape& size, const std::vector<DimVector>& strides);

/// The merged loops over `shape` for operands of shapes `operands`; each must broadcast to `shape`. Equal shapes give
/// one loop, scalars none.
Loops loopsOver(const Shape& shape, const std::vector<Shape>& operands);

/// Extents or strides as the push constants of a kernel take them, zeros behind; REQUIRES at most N values.
template <size_t N>
std::array<int64_t, N> packed(const DimVector& values) {
  OPKIT_CHECK(values.size() <= N);
  std::array<int64_t, N> result{};
  std::ranges::copy(values, result.begin());
  return result;
}

}  // namespace opkit
