#include <cmath>

#include "ops/lrn/lrn.h"

namespace opkit::ops::lrn {

namespace {

constexpr int64_t kLongWindow = 4096;  // channels; from here on adding up every window would take minutes

/// Sums of squares over windows of one position's channels, which lie `inner` apart.
class Squares {
 public:
  Squares(const double* x, int64_t channels, int64_t inner, bool longWindows) : x_(x), inner_(inner) {
    if (!longWindows) return;
    upTo_.assign(1, 0);
    for (int64_t c = 0; c < channels; ++c) upTo_.push_back(upTo_.back() + square(c));
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
  double square(int64_t c) const { return x_[c * inner_] * x_[c * inner_]; }

  const double* x_;
  int64_t inner_;
  std::vector<long double> upTo_;  // channel c and all before it; empty if windows are added up directly
};

}  // namespace

Status reference(const OracleArgs& args) {
  const auto params = args.params<LrnParams>();
  const LrnPlan plan = planLrn(params, args.input(0).shape());
  const std::vector<double>& x = args.input(0).real;
  std::vector<double>& y = args.output().real;
  const double scale = static_cast<double>(params.alpha) / static_cast<double>(params.size);
  for (int64_t n = 0; n < plan.batch; ++n) {
    for (int64_t i = 0; i < plan.inner; ++i) {
      const auto start = static_cast<size_t>(n * plan.channels * plan.inner + i);
      const Squares squares(x.data() + start, plan.channels, plan.inner, params.size >= kLongWindow);
      for (int64_t c = 0; c < plan.channels; ++c) {
        const int64_t first = std::max<int64_t>(0, c - plan.before), last = std::min(plan.channels - 1, c + plan.after);
        const size_t at = start + static_cast<size_t>(c * plan.inner);
        y[at] = x[at] / std::pow(params.bias + scale * squares.sum(first, last), static_cast<double>(params.beta));
      }
    }
  }
  return Status::ok();
}

}  // namespace opkit::ops::lrn
