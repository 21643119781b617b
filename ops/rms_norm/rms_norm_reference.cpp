#include <cmath>

#include "engine/op/oracle_elements.h"
#include "ops/rms_norm/rms_norm_parts.h"

namespace opkit::ops::rms_norm {

Status reference(const OracleArgs& args) {
  const auto params = args.params<RmsNormParams>();
  const OracleTensor &x = args.input(0), &scale = args.input(1);
  OracleTensor& y = args.output();
  y.magnitude.assign(y.real.size(), 0.0);
  const auto axis = static_cast<ptrdiff_t>(axisFromFront(params.axis, x.shape().size()));
  std::vector<double> factors;
  forEachCoordinates(x.shape(), [&](size_t, const Coordinates& at) {
    factors.push_back(scale.real[broadcastElementAt(scale.shape(), at)]);
  });
  std::vector<bool> together(x.shape().size(), true);
  std::fill_n(together.begin(), axis, false);
  forEachGroup(x.shape(), together, [&](size_t, const std::vector<size_t>& elements) {
    y.terms = termsOfNorm(elements.size());
    long double squares = 0;  // a plain sum of 70,000 doubles is outside the bound of f64
    for (const size_t i : elements) squares += static_cast<long double>(x.real[i]) * x.real[i];
    const double mean = static_cast<double>(squares / static_cast<long double>(elements.size()));
    const double root = std::sqrt(mean + params.epsilon);
    for (const size_t i : elements) {
      y.real[i] = x.real[i] / root * factors[i];
      y.magnitude[i] = std::fabs(factors[i]);
    }
  });
  return Status::ok();
}

}  // namespace opkit::ops::rms_norm
