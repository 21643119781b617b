#include <cmath>

#include "engine/op/oracle_elements.h"
#include "ops/cum_sum/cum_sum.h"

namespace opkit::ops::cum_sum {
namespace {

double add(double a, double b) { return a + b; }
int64_t add(int64_t a, int64_t b) { return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b)); }
/// More digits and a wider range than any kernel.
long double multiply(long double a, double b) { return a * b; }
int64_t multiply(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}

int64_t givenAxis(const OracleArgs& args) {
  return args.hasInput(1) ? args.input(1).integer[0] : args.params<CumSumParams>().axis;
}

/// Each element of y becomes what `next` makes of `start` and the elements of its row up to itself, or before it.
template <class Fold, class T, class Next>
void runningFolds(const OracleArgs& args, const std::vector<T>& x, std::vector<T>& y, Fold start, Next next) {
  const auto params = args.params<CumSumParams>();
  forEachRowAlong(args.input(0).shape(), givenAxis(args), [&](size_t, std::vector<size_t> row) {
    if (params.reverse) std::ranges::reverse(row);
    Fold fold = start;
    for (const size_t i : row) {
      const Fold after = next(fold, x[i]);
      y[i] = static_cast<T>(params.exclusive ? fold : after);
      fold = after;
    }
  });
}

void setTerms(const OracleArgs& args) {
  const Shape& shape = args.input(0).shape();
  args.output().terms = shape[axisFromFront(givenAxis(args), shape.size())];
}

}  // namespace

Status reference(const OracleArgs& args) {
  const OracleTensor& x = args.input(0);
  OracleTensor& y = args.output();
  setTerms(args);
  if (!x.isReal()) {
    runningFolds(args, x.integer, y.integer, int64_t{0}, [](int64_t a, int64_t b) { return add(a, b); });
    return Status::ok();
  }
  y.magnitude.resize(y.real.size());
  runningFolds(args, x.real, y.real, 0.0, [](double a, double b) { return add(a, b); });
  runningFolds(args, x.real, y.magnitude, 0.0, [](double a, double b) { return add(a, std::fabs(b)); });
  return Status::ok();
}

/// Each of n roundings is relative to the product. A device may flush a denormal one: the bound is at least 2^-126.
Status productReference(const OracleArgs& args) {
  const OracleTensor& x = args.input(0);
  OracleTensor& y = args.output();
  setTerms(args);
  if (!x.isReal()) {
    runningFolds(args, x.integer, y.integer, int64_t{1}, [](int64_t a, int64_t b) { return multiply(a, b); });
    return Status::ok();
  }
  runningFolds(args, x.real, y.real, 1.0L, [](long double a, double b) { return multiply(a, b); });
  for (const double value : y.real) y.magnitude.push_back(std::max(std::fabs(value), 0x1p-105));
  return Status::ok();
}

}  // namespace opkit::ops::cum_sum
