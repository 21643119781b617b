#include <cmath>

#include "engine/op/oracle_elements.h"
#include "ops/mean_variance_norm/mean_variance_norm_parts.h"

namespace opkit::ops::mean_variance_norm {

Status reference(const OracleArgs& args) {
  const std::vector<int64_t> axes = args.params<MeanVarianceNormParams>().axes;
  const OracleTensor& x = args.input(0);
  OracleTensor& y = args.output();
  y.magnitude.assign(y.real.size(), 0.0);
  std::vector<bool> together(x.shape().size(), axes.empty());
  for (const int64_t axis : axes) together[axisFromFront(axis, x.shape().size())] = true;
  forEachGroup(x.shape(), together, [&](size_t, const std::vector<size_t>& elements) {
    const auto count = static_cast<double>(elements.size());
    double mean = 0, squares = 0;
    for (const size_t i : elements) mean += x.real[i] / count;
    for (const size_t i : elements) squares += (x.real[i] - mean) * (x.real[i] - mean);
    const double deviation = std::sqrt(squares / count) + 1e-9;
    y.terms = termsOfNorm(elements.size());
    for (const size_t i : elements) {
      y.real[i] = (x.real[i] - mean) / deviation;
      y.magnitude[i] = 1 + std::fabs(mean) / deviation;
    }
  });
  return Status::ok();
}

}  // namespace opkit::ops::mean_variance_norm
