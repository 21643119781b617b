#include <cmath>
#include <limits>

#include "engine/op/oracle_elements.h"
#include "ops/reduce/reduce.h"

namespace opkit::ops::reduce {
namespace {

struct Folded {
  double value = 0;
  double magnitude = 0;  // see OracleTensor::magnitude
};

double sumOf(const std::vector<double>& xs, double (*map)(double)) {
  double sum = 0;
  for (const double x : xs) sum += map(x);
  return sum;
}

double identity(double x) { return x; }
double absolute(double x) { return std::fabs(x); }
double square(double x) { return x * x; }

template <class T>
std::vector<T> chosen(const std::vector<T>& xs, const std::vector<size_t>& elements) {
  std::vector<T> values;
  for (const size_t element : elements) values.push_back(xs[element]);
  return values;
}

/// NaN wins; no elements give -Inf.
double largestOf(const std::vector<double>& xs) {
  double largest = -INFINITY;
  for (const double x : xs) largest = std::isnan(largest) || largest >= x ? largest : x;
  return largest;
}

double smallestOf(const std::vector<double>& xs) {
  double smallest = INFINITY;
  for (const double x : xs) smallest = std::isnan(smallest) || smallest <= x ? smallest : x;
  return smallest;
}

/// log(sum e^x), shifted by the largest element so that nothing overflows.
Folded logSumExp(const std::vector<double>& xs) {
  const double largest = largestOf(xs);
  if (std::isinf(largest)) return {largest, 0};
  double sum = 0;
  for (const double x : xs) sum += std::exp(x - largest);
  return {largest + std::log(sum), 2 + 2 * std::fabs(largest)};
}

Folded fold(Kind kind, const std::vector<double>& xs) {
  const auto count = static_cast<double>(xs.size());
  const double magnitude = sumOf(xs, absolute);
  switch (kind) {
    case Kind::Sum: return {sumOf(xs, identity), magnitude};
    case Kind::Mean: return {sumOf(xs, identity) / count, magnitude / count};
    case Kind::Max: return {largestOf(xs), 0};
    case Kind::Min: return {smallestOf(xs), 0};
    case Kind::L1: return {magnitude, magnitude};
    case Kind::L2: return {std::sqrt(sumOf(xs, square)), std::sqrt(sumOf(xs, square))};
    case Kind::SumSquare: return {sumOf(xs, square), sumOf(xs, square)};
    case Kind::LogSumExp: return logSumExp(xs);
    case Kind::LogSum: {
      // An error d of the sum moves its logarithm by d / sum.
      const double sum = sumOf(xs, identity);
      return {std::log(sum), magnitude / std::fabs(sum) + std::fabs(std::log(sum))};
    }
    case Kind::Prod: break;
  }
  double product = 1;
  for (const double x : xs) product *= x;
  return {product, std::fabs(product) * std::sqrt(count)};  // n roundings, each relative to the product
}

/// Towards zero into 64 bits, or to their nearest limit; what is no number is 0.
int64_t truncate(double value, bool isUnsigned) {
  if (!std::isfinite(value)) return 0;
  if (isUnsigned && value >= 0x1p63)
    return static_cast<int64_t>(value >= 0x1p64 ? ~0ull : static_cast<uint64_t>(value));
  if (value >= 0x1p63) return std::numeric_limits<int64_t>::max();
  return value < -0x1p63 ? std::numeric_limits<int64_t>::min() : static_cast<int64_t>(value);
}

/// The least value of an integer type, or the greatest.
int64_t limitOf(DType dtype, bool greatest) {
  if (dtype == DType::Bool) return greatest;
  int64_t limit = 0;
  visitDType(dtype, [&](auto tag) {
    using T = decltype(tag);
    using Limits = std::numeric_limits<T>;
    if constexpr (std::is_integral_v<T>) limit = static_cast<int64_t>(greatest ? Limits::max() : Limits::lowest());
  });
  return limit;
}

/// Integers: sums and products wrap; Mean, L2 and the logarithms are truncated.
/// Max and Min of nothing are the limits of the type (ONNX ReduceMax: "the minimum value of the data type").
int64_t foldInteger(Kind kind, const std::vector<int64_t>& xs, DType dtype) {
  const uint64_t flip = dtype == DType::UInt64 ? uint64_t{1} << 63 : 0;  // orders uint64 as int64
  const auto order = [&](int64_t x) { return static_cast<int64_t>(static_cast<uint64_t>(x) ^ flip); };
  if (kind == Kind::L2 || kind == Kind::LogSum || kind == Kind::LogSumExp) {
    std::vector<double> wide;
    for (const int64_t x : xs)
      wide.push_back(flip ? static_cast<double>(static_cast<uint64_t>(x)) : static_cast<double>(x));
    return truncate(fold(kind, wide).value, flip != 0);
  }
  if (kind == Kind::Max || kind == Kind::Min) {
    int64_t best = xs.empty() ? limitOf(dtype, kind == Kind::Min) : xs[0];
    for (const int64_t x : xs)
      if (kind == Kind::Max ? order(x) > order(best) : order(x) < order(best)) best = x;
    return best;
  }
  uint64_t sum = kind == Kind::Prod ? 1 : 0;
  for (const int64_t x : xs) {
    const auto term = static_cast<uint64_t>(x);
    if (kind == Kind::Prod)
      sum *= term;
    else if (kind == Kind::SumSquare)
      sum += term * term;
    else if (kind == Kind::L1 && flip == 0 && x < 0)
      sum -= term;
    else
      sum += term;
  }
  const auto total = static_cast<int64_t>(sum);
  if (kind != Kind::Mean || xs.empty()) return total;
  return flip ? static_cast<int64_t>(sum / xs.size()) : total / static_cast<int64_t>(xs.size());
}

}  // namespace

Status reference(Kind kind, const OracleArgs& args) {
  const OracleTensor& x = args.input(0);
  OracleTensor& y = args.output();
  const auto params = args.params<ReduceParams>();
  const std::vector<int64_t>& axes = args.hasInput(1) ? args.input(1).integer : params.axes;
  std::vector<bool> together(x.shape().size(), axes.empty() && !params.noop_with_empty_axes);
  for (const int64_t axis : axes) together[axisFromFront(axis, together.size())] = true;
  y.terms = 1;
  for (size_t d = 0; d < together.size(); ++d) y.terms *= together[d] ? x.shape()[d] : 1;
  if (y.isReal()) y.magnitude.resize(y.real.size());

  forEachGroup(x.shape(), together, [&](size_t i, const std::vector<size_t>& elements) {
    if (x.isReal()) {
      const Folded folded = fold(kind, chosen(x.real, elements));
      y.real[i] = folded.value;
      y.magnitude[i] = folded.magnitude;
    } else {
      y.integer[i] = foldInteger(kind, chosen(x.integer, elements), x.desc.dtype);
    }
  });
  return Status::ok();
}

}  // namespace opkit::ops::reduce
