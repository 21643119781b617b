#include "ops/reduce/log_sum_exp.h"

#include <algorithm>
#include <cmath>

#include "engine/backend/cpu/vector_ops.h"

namespace opkit::ops::reduce {
namespace {

constexpr int64_t kRowRun = 1024;   // elements of a row that are added in float, each lane a fraction
constexpr int64_t kColumnRun = 64;  // rows that are added in float

float finished(float largest, double sum) {
  return std::isinf(largest) ? largest : static_cast<float>(static_cast<double>(largest) + std::log(sum));
}

}  // namespace

float logSumExpOf(const float* x, int64_t count) {
  const float largest = cpu::maxOf(x, count);
  double sum = 0;
  for (int64_t i = 0; i < count && !std::isinf(largest); i += kRowRun)
    sum += static_cast<double>(cpu::expBelow(x + i, largest, nullptr, std::min(kRowRun, count - i)));
  return finished(largest, sum);
}

LogSumExpColumns::LogSumExpColumns(int64_t columns) : columns_(columns) {
  std::fill_n(largest_, columns, -INFINITY);
  std::fill_n(sums_, columns, 0.0f);
}

void LogSumExpColumns::findLargest(const float* row) { cpu::maxTo(row, largest_, columns_); }

void LogSumExpColumns::add(const float* row) {
  cpu::expTo(row, largest_, nullptr, sums_, columns_);
  if (++pending_ == kColumnRun) flush();
}

void LogSumExpColumns::flush() {
  for (int64_t c = 0; c < columns_; ++c) {
    totals_[c] += static_cast<double>(sums_[c]);
    sums_[c] = 0;
  }
  pending_ = 0;
}

void LogSumExpColumns::result(float* y) {
  flush();
  for (int64_t c = 0; c < columns_; ++c) y[c] = finished(largest_[c], totals_[c]);
}

}  // namespace opkit::ops::reduce
