#include <cmath>

#include "ops/lrn/lrn.h"

namespace opkit::ops::lrn {

Status reference(const OracleArgs& args) {
  const auto params = args.params<LrnParams>();
  const LrnPlan plan = planLrn(params, args.input(0).shape());
  const std::vector<double>& x = args.input(0).real;
  std::vector<double>& y = args.output().real;
  const double scale = static_cast<double>(params.alpha) / static_cast<double>(params.size);
  for (int64_t n = 0; n < plan.batch; ++n) {
    for (int64_t c = 0; c < plan.channels; ++c) {
      const int64_t first = std::max<int64_t>(0, c - plan.before);
      const int64_t last = std::min(plan.channels - 1, c + plan.after);
      for (int64_t i = 0; i < plan.inner; ++i) {
        const auto at = [&](int64_t channel) {
          return static_cast<size_t>((n * plan.channels + channel) * plan.inner + i);
        };
        double squares = 0;
        for (int64_t channel = first; channel <= last; ++channel) squares += x[at(channel)] * x[at(channel)];
        y[at(c)] = x[at(c)] / std::pow(params.bias + scale * squares, static_cast<double>(params.beta));
      }
    }
  }
  return Status::ok();
}

}  // namespace opkit::ops::lrn
