// log(sum(e^x)) of floats by vectors: the largest element first, then the sum of e^(x - largest).
#pragma once

#include <cstdint>

namespace opkit::ops::reduce {

/// Of `count` neighbours; -inf of none.
float logSumExpOf(const float* x, int64_t count);

/// Of columns that lie side by side: y[c] over rows of elements x[offsetOf(row) + c]. REQUIRES at most kMostColumns.
inline constexpr int64_t kMostColumns = 64;
class LogSumExpColumns {
 public:
  explicit LogSumExpColumns(int64_t columns);
  /// First every row, then every row again, then the result.
  void findLargest(const float* row);
  void add(const float* row);
  void result(float* y);

 private:
  void flush();

  int64_t columns_, pending_ = 0;
  float largest_[kMostColumns], sums_[kMostColumns];
  double totals_[kMostColumns] = {};
};

}  // namespace opkit::ops::reduce
