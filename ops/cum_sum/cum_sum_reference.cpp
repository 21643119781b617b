#include <cmath>

#include "ops/cum_sum/cum_sum_parts.h"

namespace opkit::ops::cum_sum {
namespace {

double add(double a, double b) { return a + b; }
int64_t add(int64_t a, int64_t b) { return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b)); }

/// y[i] = the sum of map(x) up to i along rows of `extent` elements with stride `inner`.
template <class T, class Map>
void runningSums(const std::vector<T>& x, std::vector<T>& y, int64_t extent, int64_t inner, const CumSumParamsT& params,
                 Map map) {
  const int64_t rows = extent * inner == 0 ? 0 : static_cast<int64_t>(x.size()) / extent;
  for (int64_t row = 0; row < rows; ++row) {
    const int64_t first = row / inner * extent * inner + row % inner;
    T sum = 0;
    for (int64_t step = 0; step < extent; ++step) {
      const int64_t i = params.reverse ? extent - 1 - step : step;
      const auto at = static_cast<size_t>(first + i * inner);
      const T next = add(sum, map(x[at]));
      y[at] = params.exclusive ? sum : next;
      sum = next;
    }
  }
}

}  // namespace

Status reference(const OracleArgs& args) {
  const auto params = args.params<CumSumParams>();
  const OracleTensor& x = args.input(0);
  OracleTensor& y = args.output();
  OPKIT_ASSIGN(const int normalized, normalizeAxis(args.input(1).integer[0], x.shape().size()));
  const auto axis = static_cast<size_t>(normalized);
  const int64_t extent = x.shape()[axis], inner = elementCount(x.shape(), axis + 1, x.shape().size());
  y.terms = extent;
  if (!x.isReal()) {
    runningSums(x.integer, y.integer, extent, inner, params, [](int64_t value) { return value; });
    return Status::ok();
  }
  y.magnitude.resize(y.real.size());
  runningSums(x.real, y.real, extent, inner, params, [](double value) { return value; });
  runningSums(x.real, y.magnitude, extent, inner, params, [](double value) { return std::fabs(value); });
  return Status::ok();
}

}  // namespace opkit::ops::cum_sum
