#include <cmath>

#include "engine/op/oracle_elements.h"
#include "ops/hardmax/hardmax_parts.h"

namespace opkit::ops::hardmax {

/// A NaN is larger than any number, as in NumPy.
Status reference(const OracleArgs& args) {
  const auto params = args.params<HardmaxParams>();
  const std::vector<double>& x = args.input(0).real;
  const Shape& shape = args.input(0).shape();
  const size_t axis = axisFromFront(params.axis, shape.size());
  std::vector<bool> together(shape.size());
  for (size_t d = 0; d < shape.size(); ++d) together[d] = d == axis || (params.flatten && d > axis);
  forEachGroup(shape, together, [&](size_t, const std::vector<size_t>& row) {
    if (row.empty()) return;
    size_t best = row[0];
    for (const size_t i : row)
      if (!std::isnan(x[best]) && (std::isnan(x[i]) || x[i] > x[best])) best = i;
    args.output().real[best] = 1;
  });
  return Status::ok();
}

}  // namespace opkit::ops::hardmax
