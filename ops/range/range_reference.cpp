#include <cmath>

#include "ops/range/range_parts.h"

namespace opkit::ops::range {

Status reference(const OracleArgs& args) {
  OracleTensor& y = args.output();
  const auto count = static_cast<size_t>(y.elements());
  if (!y.isReal()) {
    for (size_t i = 0; i < count; ++i)
      y.integer[i] = args.input(0).integer[0] + static_cast<int64_t>(i) * args.input(2).integer[0];
    return Status::ok();
  }
  const double start = args.input(0).real[0], delta = args.input(2).real[0];
  y.magnitude.resize(count);
  y.terms = 2;
  for (size_t i = 0; i < count; ++i) {
    y.real[i] = start + static_cast<double>(i) * delta;
    y.magnitude[i] = std::fabs(start) + static_cast<double>(i) * std::fabs(delta);
  }
  return Status::ok();
}

}  // namespace opkit::ops::range
