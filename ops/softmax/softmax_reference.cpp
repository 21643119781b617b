#include <cmath>

#include "ops/softmax/softmax.h"

namespace opkit::ops::softmax {

Status reference(const OracleArgs& args) {
  const auto params = args.params<SoftmaxParams>();
  const Rows rows = rowsOf(params, args.input(0).shape());
  const std::vector<double>& x = args.input(0).real;
  std::vector<double>& y = args.output().real;
  for (int64_t row = 0; row < rows.count(); ++row) {
    const auto at = [&](int64_t i) { return rows.at(row, i); };
    double largest = -INFINITY;
    for (int64_t i = 0; i < rows.extent; ++i) largest = std::max(largest, x[at(i)]);
    double sum = 0;
    for (int64_t i = 0; i < rows.extent; ++i) sum += std::exp(x[at(i)] - largest);
    for (int64_t i = 0; i < rows.extent; ++i) {
      const double shifted = x[at(i)] - largest;
      y[at(i)] = params.log ? shifted - std::log(sum) : std::exp(shifted) / sum;
    }
  }
  return Status::ok();
}

}  // namespace opkit::ops::softmax
