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
    double squares = 0;
    for (const size_t i : elements) squares += x.real[i] * x.real[i];
    const double root = std::sqrt(squares / static_cast<double>(elements.size()) + params.epsilon);
    for (const size_t i : elements) {
      y.real[i] = x.real[i] / root * factors[i];
      y.magnitude[i] = std::fabs(factors[i]);
    }
  });
  return Status::ok();
}

}  // namespace opkit::ops::rms_norm
