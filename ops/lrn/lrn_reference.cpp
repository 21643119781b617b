#include <cmath>

#include "engine/op/oracle_elements.h"
#include "ops/lrn/lrn_parts.h"

namespace opkit::ops::lrn {

namespace {

constexpr int64_t kLongWindow = 4096;  // channels; from here on adding up every window would take minutes

/// Sums of squares over windows of one position's channels.
class Squares {
 public:
  Squares(const std::vector<double>& row, bool longWindows) : row_(row) {
    if (!longWindows) return;
    upTo_.assign(1, 0);
    for (int64_t c = 0; c < static_cast<int64_t>(row.size()); ++c) upTo_.push_back(upTo_.back() + square(c));
    // A difference of infinities is NaN, which would spoil neighbouring windows.
    if (!std::isfinite(upTo_.back())) upTo_.clear();
  }
  double sum(int64_t first, int64_t last) const {
    if (!upTo_.empty())
      return static_cast<double>(upTo_[static_cast<size_t>(last) + 1] - upTo_[static_cast<size_t>(first)]);
    double sum = 0;
    for (int64_t c = first; c <= last; ++c) sum += square(c);
    return sum;
  }

 private:
  double square(int64_t c) const { return row_[static_cast<size_t>(c)] * row_[static_cast<size_t>(c)]; }

  const std::vector<double>& row_;
  std::vector<long double> upTo_;  // channel c and all before it; empty if windows are added up directly
};

}  // namespace

Status reference(const OracleArgs& args) {
  const auto params = args.params<LrnParams>();
  const Shape& shape = args.input(0).shape();
  const std::vector<double>& x = args.input(0).real;
  std::vector<double>& y = args.output().real;
  const double scale = static_cast<double>(params.alpha) / static_cast<double>(params.size);
  const int64_t before = (params.size - 1) / 2, after = params.size / 2;  // channels of the window around its own
  forEachRowAlong(shape, 1, [&](size_t, const std::vector<size_t>& channels) {
    std::vector<double> row;
    for (const size_t element : channels) row.push_back(x[element]);
    const Squares squares(row, params.size >= kLongWindow);
    for (int64_t c = 0; c < shape[1]; ++c) {
      const int64_t first = std::max<int64_t>(0, c - before), last = std::min(shape[1] - 1, c + after);
      const double sum = params.bias + scale * squares.sum(first, last);
      const auto i = static_cast<size_t>(c);
      y[channels[i]] = row[i] / std::pow(sum, static_cast<double>(params.beta));
    }
  });
  return Status::ok();
}

}  // namespace opkit::ops::lrn
