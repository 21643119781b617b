#include <cmath>

#include "engine/op/oracle_elements.h"
#include "ops/cum_sum/cum_sum_parts.h"

namespace opkit::ops::cum_sum {
namespace {

double add(double a, double b) { return a + b; }
int64_t add(int64_t a, int64_t b) { return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b)); }

/// Each element of y becomes the sum of map(x) over its row up to itself, or before it.
template <class T, class Map>
void runningSums(const OracleArgs& args, const std::vector<T>& x, std::vector<T>& y, Map map) {
  const auto params = args.params<CumSumParams>();
  forEachRowAlong(args.input(0).shape(), args.input(1).integer[0], [&](size_t, std::vector<size_t> row) {
    if (params.reverse) std::ranges::reverse(row);
    T sum = 0;
    for (const size_t i : row) {
      y[i] = params.exclusive ? sum : add(sum, map(x[i]));
      sum = add(sum, map(x[i]));
    }
  });
}

}  // namespace

Status reference(const OracleArgs& args) {
  const OracleTensor& x = args.input(0);
  OracleTensor& y = args.output();
  y.terms = x.shape()[axisFromFront(args.input(1).integer[0], x.shape().size())];
  if (!x.isReal()) {
    runningSums(args, x.integer, y.integer, [](int64_t value) { return value; });
    return Status::ok();
  }
  y.magnitude.resize(y.real.size());
  runningSums(args, x.real, y.real, [](double value) { return value; });
  runningSums(args, x.real, y.magnitude, [](double value) { return std::fabs(value); });
  return Status::ok();
}

}  // namespace opkit::ops::cum_sum
