#include <algorithm>
#include <cmath>

#include "ops/random/sampling.h"

namespace opkit::ops::random {
namespace {

/// A product as the type of the sums holds it.
double roundedSample(double value, bool isF32) {
  return isF32 ? static_cast<double>(static_cast<float>(value)) : value;
}

/// The first class whose running sum exceeds `wanted`, else the last one.
int64_t pick(const std::vector<double>& sums, double wanted) {
  for (size_t c = 0; c + 1 < sums.size(); ++c)
    if (sums[c] > wanted) return static_cast<int64_t>(c);
  return static_cast<int64_t>(sums.size()) - 1;
}

/// The same by halves of the classes [first, last], which is another class if the sums do not rise.
int64_t pickByHalves(const std::vector<double>& sums, double wanted, size_t first, size_t last) {
  if (first == last) return static_cast<int64_t>(first);
  const size_t middle = first + (last - first) / 2;
  return sums[middle] > wanted ? pickByHalves(sums, wanted, first, middle)
                               : pickByHalves(sums, wanted, middle + 1, last);
}

/// Calls sumsOf(row), then pickFrom(sums, wanted) for that row's samples.
template <class SumsOf, class PickFrom>
void drawRows(const OracleArgs& args, const SumsOf& sumsOf, const PickFrom& pickFrom) {
  const auto params = args.params<SamplingParams>();
  OracleTensor& y = args.output();
  std::vector<double> sums;
  for (size_t i = 0; i < y.integer.size(); ++i) {
    const auto samples = static_cast<size_t>(params.samples);
    if (i % samples == 0) sums = sumsOf(i / samples);
    y.integer[i] = pickFrom(sums, uniformAt(params.key, i) * sums.back());
  }
}

std::vector<double> rowOf(const OracleTensor& x, size_t row) {
  const auto classes = static_cast<size_t>(x.shape()[1]);
  const auto first = x.real.begin() + static_cast<std::ptrdiff_t>(row * classes);
  return {first, first + static_cast<std::ptrdiff_t>(classes)};
}

}  // namespace

Status bernoulliReference(const OracleArgs& args) {
  const uint64_t key = args.params<SamplingParams>().key;
  OracleTensor& y = args.output();
  for (size_t i = 0; i < args.input(0).real.size(); ++i) {
    const bool isOne = uniformAt(key, i) < args.input(0).real[i];
    if (y.isReal())
      y.real[i] = isOne;
    else
      y.integer[i] = isOne;
  }
  return Status::ok();
}

Status multinomialReference(const OracleArgs& args) {
  const auto sumsOf = [&](size_t row) {
    std::vector<double> sums = rowOf(args.input(0), row);
    double largest = -INFINITY, sum = 0;
    for (const double x : sums) largest = std::isnan(x) ? x : std::max(largest, x);
    for (double& x : sums) x = sum += std::exp(x - largest);
    return sums;
  };
  const bool isF32 = args.input(0).desc.dtype != DType::Float64;
  drawRows(args, sumsOf, [isF32](const std::vector<double>& sums, double wanted) {
    return pick(sums, roundedSample(wanted, isF32));
  });
  return Status::ok();
}

/// The wanted share of the sum is a product of the sums' type, rounded once.
Status sampleRowsReference(const OracleArgs& args) {
  const bool isF32 = args.input(0).desc.dtype != DType::Float64;
  const auto pickFrom = [isF32](const std::vector<double>& sums, double wanted) {
    return pickByHalves(sums, roundedSample(wanted, isF32), 0, sums.size() - 1);
  };
  drawRows(
      args, [&](size_t row) { return rowOf(args.input(0), row); }, pickFrom);
  return Status::ok();
}

/// The ratio is compared as f32.
Status dropoutReference(const OracleArgs& args) {
  const std::vector<double>& x = args.input(0).real;
  const double ratio = args.input(1).real[0], dropped = static_cast<double>(static_cast<float>(ratio));
  const bool trains = !args.hasInput(2) || args.input(2).integer[0] != 0;
  const uint64_t key = args.params<SamplingParams>().key;
  for (size_t i = 0; i < x.size(); ++i) {
    const bool isKept = !trains || !(uniformAt(key, i) < dropped);
    args.output(0).real[i] = !trains ? x[i] : isKept ? x[i] / (1 - ratio) : 0;
    if (args.outputs.size() > 1) args.output(1).integer[i] = isKept;
  }
  return Status::ok();
}

}  // namespace opkit::ops::random
