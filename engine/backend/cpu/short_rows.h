// Rows of few elements that follow each other: a call for each would cost more than its elements. A block of them is
// transposed into a tile on the stack, where they are columns side by side, and vectors run across the rows. A kernel
// gives a row the same bits in every block. Nothing here allocates.
//
//   cpu::forEachBlockOfRows(pool_, rows, length, [&](int64_t first, int64_t count) {
//     cpu::RowTile tile(x + first * length, count, length);
//     for (int64_t i = 0; i < length; ++i) cpu::addTo(tile.elements(i), sums, count);  // element i of every row
//   });
#pragma once

#include "engine/backend/cpu/parallel.h"
#include "engine/backend/cpu/vector_ops.h"
#include "engine/base/divide.h"

namespace opkit::cpu {

inline constexpr int64_t kLongestShortRow = 64;  // elements; longer ones are as fast by themselves
inline constexpr int64_t kMostShortRows = 256;   // of a block
inline constexpr int64_t kTileElements = 4096;   // 16 KiB of floats, half of a small first-level cache

/// A multiple of this: every vector of floats is whole.
inline constexpr int64_t kTileStep = 16;

/// Rows of `length` elements in a block, at most `most`. REQUIRES length in [1, kTileElements / kTileStep].
constexpr int64_t shortRowsTogether(int64_t length, int64_t most = kMostShortRows) {
  return std::min(most, kTileElements / length) / kTileStep * kTileStep;
}

class RowTile {
 public:
  /// `rows` rows of `length` elements. REQUIRES at most shortRowsTogether(length) of them.
  RowTile(const float* x, int64_t rows, int64_t length)
      : rows_(rows), length_(length), step_(roundUp(rows, kTileStep)) {
    transpose(x, length, rows, length, elements_, step_);
    for (int64_t i = 0; i < length; ++i) std::fill(elements(i) + rows, elements(i) + step_, 0.0f);
  }
  /// Element `i` of every row, then zeros; element i + 1 follows step() later.
  float* elements(int64_t i) { return elements_ + i * step_; }
  const float* elements(int64_t i) const { return elements_ + i * step_; }
  int64_t step() const { return step_; }
  /// Writes the rows, as they are now.
  void copyTo(float* y) const { transpose(elements_, step_, length_, rows_, y, length_); }

 private:
  int64_t rows_, length_, step_;
  alignas(64) float elements_[kTileElements];
};

/// Calls body(first row, rows) for blocks of at most `most` rows of `length` elements, each of which costs `work` plain
/// ones. REQUIRES that `most` is at least kTileStep.
template <class Body>
void forEachBlockOfRows(ThreadPool& pool, int64_t rows, int64_t length, int64_t work, const Body& body,
                        int64_t most = kMostShortRows) {
  const int64_t together = shortRowsTogether(length, most);
  parallelRows(pool, ceilDiv(rows, together), together * length * work,
               [&](int64_t block) { body(block * together, std::min(together, rows - block * together)); });
}

}  // namespace opkit::cpu
