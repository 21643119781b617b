#include <cmath>

#include "engine/op/oracle_elements.h"
#include "ops/nll_loss/nll_loss.h"

namespace opkit::ops::nll_loss {
namespace {

/// One sample: its loss, how much it counts in a mean, and what the error bound of the loss is in proportion to.
struct Sample {
  double loss = 0, weight = 0, magnitude = 0;
};

/// The losses in the order of the labels. `logarithm(i)` is that of element i of x, `magnitude(i)` the size of what it
/// was computed from.
template <class Logarithm, class Magnitude>
Result<std::vector<Sample>> samplesOf(const OracleArgs& args, Logarithm logarithm, Magnitude magnitude) {
  const auto params = args.params<NllLossParams>();
  const OracleTensor &x = args.input(0), &labels = args.input(1);
  std::vector<Sample> samples(labels.integer.size());
  Status status;
  forEachCoordinates(labels.shape(), [&](size_t sample, const Coordinates& at) {
    const int64_t label = labels.integer[sample], classes = x.shape()[1];
    if (params.has_ignore_index && label == params.ignore_index) return;
    if (label < 0 || label >= classes) {
      if (status.isOk()) status = Status::invalidArgument("labels must be in [0, {}), got {}", classes, label);
      return;
    }
    Coordinates from{at[0], label};
    from.insert(from.end(), at.begin() + 1, at.end());
    const size_t element = elementAt(x.shape(), from);
    const double weight = args.hasInput(2) ? args.input(2).real[static_cast<size_t>(label)] : 1;
    samples[sample] = {-logarithm(element) * weight, weight, magnitude(element) * std::fabs(weight)};
  });
  OPKIT_TRY(status);
  return samples;
}

/// Both sums of a weighted mean round, so both count in its magnitude.
void reduceTo(OracleTensor& y, LossReduction reduction, const std::vector<Sample>& samples) {
  y.magnitude.assign(y.real.size(), 0);
  if (reduction == LossReduction::None) {
    for (size_t i = 0; i < samples.size(); ++i) y.real[i] = samples[i].loss, y.magnitude[i] = samples[i].magnitude;
    return;
  }
  double loss = 0, magnitude = 0, weight = 0, weights = 0;
  for (const Sample& sample : samples) {
    loss += sample.loss, magnitude += sample.magnitude;
    weight += sample.weight, weights += std::fabs(sample.weight);
  }
  const bool mean = reduction == LossReduction::Mean;
  y.real[0] = mean ? loss / weight : loss;
  y.magnitude[0] = mean ? (magnitude + std::fabs(y.real[0]) * weights) / std::fabs(weight) : magnitude;
  y.terms = static_cast<int64_t>(samples.size());
}

}  // namespace

Status nllReference(const OracleArgs& args) {
  const std::vector<double>& x = args.input(0).real;
  OPKIT_ASSIGN(const auto samples,
               samplesOf(
                   args, [&](size_t i) { return x[i]; }, [&](size_t i) { return std::fabs(x[i]); }));
  reduceTo(args.output(), args.params<NllLossParams>().reduction, samples);
  return Status::ok();
}

/// A logarithm is off in proportion to the distance to the largest score, and to 1 for the sum of the exponentials.
Status crossEntropyReference(const OracleArgs& args) {
  const OracleTensor& x = args.input(0);
  std::vector<double> logarithms(x.real.size()), magnitudes(x.real.size());
  forEachRowAlong(x.shape(), 1, [&](size_t, const std::vector<size_t>& row) {
    double largest = -INFINITY;
    for (const size_t i : row) largest = std::max(largest, x.real[i]);
    long double sum = 0;
    for (const size_t i : row) sum += std::exp(x.real[i] - largest);
    for (const size_t i : row) {
      const double shifted = x.real[i] - largest;
      logarithms[i] = static_cast<double>(shifted - std::log(sum));
      magnitudes[i] = 1 + std::fabs(shifted) + static_cast<double>(std::log(sum));
    }
  });
  OPKIT_ASSIGN(const auto samples,
               samplesOf(
                   args, [&](size_t i) { return logarithms[i]; }, [&](size_t i) { return magnitudes[i]; }));
  OracleTensor& loss = args.output();
  reduceTo(loss, args.params<NllLossParams>().reduction, samples);
  loss.terms += x.shape()[1];
  if (args.outputs.size() < 2) return Status::ok();
  args.output(1).real = logarithms;
  args.output(1).magnitude = magnitudes;
  args.output(1).terms = x.shape()[1];
  return Status::ok();
}

}  // namespace opkit::ops::nll_loss
