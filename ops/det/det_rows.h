// Elimination in double with the largest pivot of each column: the loops of Det on the CPU, compiled for each
// instruction set. kPanel columns at a time, so that the rest of the matrix is read once per panel.
#pragma once

#include <cstdint>

namespace opkit::ops::det {

inline constexpr int64_t kPanel = 4;

/// A product of pivots that overflows or underflows only if the whole does: mantissa * 2^exponent.
struct PivotProduct {
  double mantissa = 1;
  int64_t exponent = 0;

  double value() const;
};

/// Loops over the n x n matrix at `a`, which they overwrite. Thread-safe.
struct Elimination {
  /// Eliminates the panel from column `first` on, in its own columns and its own rows, and moves whole rows.
  void (*panel)(double* a, int64_t n, int64_t first, PivotProduct& product);
  /// Eliminates the rows [begin, end) below that panel in the columns behind it.
  void (*rows)(double* a, int64_t n, int64_t first, int64_t begin, int64_t end);
};

/// The loops for this processor.
Elimination eliminationOf();

}  // namespace opkit::ops::det
