#include <cmath>

#include "engine/op/oracle_elements.h"
#include "ops/softmax/softmax_parts.h"

namespace opkit::ops::softmax {

Status reference(const OracleArgs& args) {
  const auto params = args.params<SoftmaxParams>();
  const Shape& shape = args.input(0).shape();
  const std::vector<double>& x = args.input(0).real;
  std::vector<double>& y = args.output().real;
  const size_t axis = axisFromFront(params.axis, shape.size());
  std::vector<bool> together(shape.size());
  for (size_t d = 0; d < shape.size(); ++d) together[d] = d == axis || (params.flatten && d > axis);
  forEachGroup(shape, together, [&](size_t, const std::vector<size_t>& row) {
    double largest = -INFINITY;
    for (const size_t i : row) largest = std::max(largest, x[i]);
    long double sum = 0;  // in double, 70,000 terms of an f64 row leave the bound by the oracle's own rounding
    for (const size_t i : row) sum += std::exp(x[i] - largest);
    for (const size_t i : row) {
      const double shifted = x[i] - largest;
      y[i] = static_cast<double>(params.log ? shifted - std::log(sum) : std::exp(shifted) / sum);
    }
  });
  return Status::ok();
}

}  // namespace opkit::ops::softmax
