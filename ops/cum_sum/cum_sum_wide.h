// Running sums of rows that lie side by side, by vectors. Compiled once per instruction set and chosen at run time.
#pragma once

#include <cstdint>

namespace opkit::ops::cum_sum {

inline constexpr int64_t kMostColumns = 128;

/// Rows of `extent` elements, the first of which lie side by side; the next element of a row is `step` elements on, or
/// back if that is negative. `exclusive` leaves an element out of its own sum.
struct Columns {
  int64_t columns;  // at most kMostColumns
  int64_t extent;
  int64_t step;
  bool exclusive;
};

/// y = the running sums of x. Sums of floats are doubles, those of integers wrap. REQUIRES that x and y are apart.
void sumColumns(const Columns& rows, const float* x, float* y);
void sumColumns(const Columns& rows, const double* x, double* y);
void sumColumns(const Columns& rows, const uint32_t* x, uint32_t* y);
void sumColumns(const Columns& rows, const uint64_t* x, uint64_t* y);

}  // namespace opkit::ops::cum_sum
