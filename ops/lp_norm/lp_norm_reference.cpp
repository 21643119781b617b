#include <cmath>

#include "engine/op/oracle_elements.h"
#include "ops/lp_norm/lp_norm_parts.h"

namespace opkit::ops::lp_norm {

Status reference(const OracleArgs& args) {
  const auto params = args.params<LpNormParams>();
  const OracleTensor& x = args.input(0);
  OracleTensor& y = args.output();
  y.magnitude.assign(y.real.size(), 0.0);
  forEachRowAlong(x.shape(), params.axis, [&](size_t, const std::vector<size_t>& row) {
    double sum = 0;
    for (const size_t i : row) sum += params.p == 1 ? std::fabs(x.real[i]) : x.real[i] * x.real[i];
    const double norm = params.p == 1 ? sum : std::sqrt(sum);
    y.terms = termsOfNorm(row.size());
    for (const size_t i : row) {
      y.real[i] = norm == 0 ? 0 : x.real[i] / norm;
      y.magnitude[i] = std::fabs(y.real[i]);
    }
  });
  return Status::ok();
}

}  // namespace opkit::ops::lp_norm
