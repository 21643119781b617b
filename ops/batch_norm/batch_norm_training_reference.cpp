#include <cmath>

#include "engine/op/oracle_elements.h"
#include "ops/batch_norm/batch_norm.h"

namespace opkit::ops::batch_norm {
namespace {

using Real = long double;

struct Statistics {
  Real mean = 0, variance = 0, size = 0;  // size: of the elements' magnitudes

  Statistics(const std::vector<double>& x, const std::vector<size_t>& elements) {
    const auto count = static_cast<Real>(elements.size());
    for (const size_t i : elements) mean += x[i] / count;
    for (const size_t i : elements) size += std::fabs(x[i]) / count;
    for (const size_t i : elements) variance += (x[i] - mean) * (x[i] - mean) / count;
  }
};

void set(const OracleArgs& args, size_t output, size_t i, Real value, Real magnitude) {
  if (output >= args.outputs.size()) return;
  args.output(output).real[i] = static_cast<double>(value);
  args.output(output).magnitude[i] = static_cast<double>(magnitude);
}

}  // namespace

/// The mean has the error of a sum; that of the variance is relative to it, but for the mean's, which counts squared.
Status trainingReference(const OracleArgs& args) {
  const auto params = args.params<BatchNormParams>();
  const OracleTensor& x = args.input(0);
  std::vector<bool> together(x.shape().size(), true);
  if (together.size() > 1) together[1] = false;
  if (!params.spatial) std::fill(together.begin() + 1, together.end(), false);
  for (OracleTensor& output : args.outputs) output.magnitude.assign(output.real.size(), 0.0);
  forEachGroup(x.shape(), together, [&](size_t c, const std::vector<size_t>& elements) {
    const Statistics batch(x.real, elements);
    for (OracleTensor& output : args.outputs) output.terms = termsOfNorm(elements.size());
    const Real deviation = std::sqrt(batch.variance + params.epsilon), scale = args.input(1).real[c];
    for (const size_t i : elements) {
      const Real z = (x.real[i] - batch.mean) / deviation;
      const Real bias = args.input(2).real[c];
      set(args, 0, i, z * scale + bias,
          (1 + batch.size / deviation + std::fabs(z)) * std::fabs(scale) + std::fabs(bias));
    }
    const Real momentum = params.momentum, rest = 1 - momentum;
    const Real oldMean = args.input(3).real[c], oldVariance = args.input(4).real[c];
    const Real ofMean = batch.size * batch.size * 0x1p-20L;  // of float numbers, squared
    set(args, 1, c, momentum * oldMean + rest * batch.mean,
        std::fabs(momentum * oldMean) + std::fabs(rest) * batch.size);
    set(args, 2, c, momentum * oldVariance + rest * batch.variance,
        std::fabs(momentum * oldVariance) + std::fabs(rest) * (batch.variance + ofMean));
    set(args, 3, c, batch.mean, batch.size);
    set(args, 4, c, batch.variance, batch.variance + ofMean);
  });
  return Status::ok();
}

}  // namespace opkit::ops::batch_norm
