#include <cmath>

#include "ops/batch_norm/batch_norm_parts.h"

namespace opkit::ops::batch_norm {

Status reference(const OracleArgs& args) {
  const double epsilon = args.params<BatchNormParams>().epsilon;
  const OracleTensor& x = args.input(0);
  const std::vector<double>&scale = args.input(1).real, &bias = args.input(2).real;
  const std::vector<double>&mean = args.input(3).real, &variance = args.input(4).real;
  const Shape& shape = x.shape();
  const auto channels = static_cast<size_t>(shape.size() > 1 ? shape[1] : 1);
  const auto inner = static_cast<size_t>(shape.size() > 1 ? elementCount(shape, 2, shape.size()) : 1);
  OracleTensor& y = args.output();
  if (args.wantMagnitude) y.magnitude.assign(y.real.size(), 0.0);
  for (size_t i = 0; i < x.real.size(); ++i) {
    const size_t c = i / inner % channels;
    const double factor = scale[c] / std::sqrt(variance[c] + epsilon);
    const double scaled = (x.real[i] - mean[c]) * factor;
    y.real[i] = scaled + bias[c];
    // The mean is subtracted first, which is exact for x near it: a mean far above the deviations costs no precision.
    if (args.wantMagnitude) y.magnitude[i] = std::fabs(scaled) + std::fabs(bias[c]);
  }
  return Status::ok();
}

}  // namespace opkit::ops::batch_norm
