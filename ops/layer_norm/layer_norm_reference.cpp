#include <cmath>

#include "engine/op/oracle_elements.h"
#include "ops/layer_norm/layer_norm.h"

namespace opkit::ops::layer_norm {
namespace {

struct Statistics {
  double mean;
  double inverseDeviation;
  double meanMagnitude;  // mean of |x|
};

Statistics statisticsOf(std::span<const double> row, double epsilon, bool centred) {
  const auto count = static_cast<double>(row.size());
  long double sum = 0;  // a plain sum of 70,000 doubles is outside the bound of f64
  double magnitude = 0;
  for (const double value : row) {
    sum += value;
    magnitude += std::fabs(value);
  }
  const double mean = centred ? static_cast<double>(sum / count) : 0;
  long double squares = 0;
  for (const double value : row) squares += static_cast<long double>(value - mean) * (value - mean);
  return {mean, 1 / std::sqrt(static_cast<double>(squares / count) + epsilon), magnitude / count};
}

void prepareMagnitude(const OracleArgs& args) {
  for (OracleTensor& output : args.outputs)
    if (args.wantMagnitude) output.magnitude.assign(output.real.size(), 0.0);
}

// The optional outputs mean and 1/deviation, one value per row.
void storeStatistics(const OracleArgs& args, size_t row, const Statistics& statistics) {
  if (args.outputs.size() > 1) args.output(1).real[row] = statistics.mean;
  if (args.outputs.size() > 2) args.output(2).real[row] = statistics.inverseDeviation;
  if (!args.wantMagnitude) return;
  const double skew = 1 + std::fabs(statistics.mean) * statistics.inverseDeviation;
  if (args.outputs.size() > 1) args.output(1).magnitude[row] = statistics.meanMagnitude;
  if (args.outputs.size() > 2) args.output(2).magnitude[row] = skew * statistics.inverseDeviation;
}

/// The rows and their parameters: rows are the elements that differ along the axes of `shape` from `axis` on, where
/// `shape` has as many elements as x. Scale and bias, read with these shapes, broadcast to x.
struct Norm {
  Shape shape;
  int64_t axis;
  double epsilon;
  bool centred = true;
  Shape scale, bias = {};
};

/// For each element of x the one of `parameter` that it reads.
std::vector<size_t> readOf(const Shape& x, const Shape& parameter) {
  std::vector<size_t> elements;
  forEachCoordinates(x, [&](size_t, const Coordinates& at) { elements.push_back(broadcastElementAt(parameter, at)); });
  return elements;
}

Status normalise(const OracleArgs& args, const Norm& norm) {
  const std::vector<double>&x = args.input(0).real, &scale = args.input(1).real;
  const Shape& shape = norm.shape;
  const bool hasBias = args.hasInput(2);
  const std::vector<size_t> scaleOf = readOf(args.input(0).shape(), norm.scale),
                            biasOf = readOf(args.input(0).shape(), norm.bias);
  OracleTensor& y = args.output();
  std::vector<bool> together(shape.size());
  for (size_t d = 0; d < shape.size(); ++d) together[d] = d >= axisFromFront(norm.axis, shape.size());
  prepareMagnitude(args);
  forEachGroup(shape, together, [&](size_t row, const std::vector<size_t>& elements) {
    for (OracleTensor& output : args.outputs) output.terms = termsOfNorm(elements.size());
    std::vector<double> values;
    for (const size_t element : elements) values.push_back(x[element]);
    const Statistics statistics = statisticsOf(values, norm.epsilon, norm.centred);
    storeStatistics(args, row, statistics);
    const double skew = 1 + std::fabs(statistics.mean) * statistics.inverseDeviation;
    for (const size_t i : elements) {
      const double centred = (x[i] - statistics.mean) * statistics.inverseDeviation;
      y.real[i] = centred * scale[scaleOf[i]] + (hasBias ? args.input(2).real[biasOf[i]] : 0.0);
      if (args.wantMagnitude) y.magnitude[i] = skew * std::fabs(scale[scaleOf[i]]);
    }
  });
  return Status::ok();
}

}  // namespace

Status layerNormReference(const OracleArgs& args) {
  const auto params = args.params<LayerNormParams>();
  const Shape bias = args.hasInput(2) ? args.input(2).shape() : Shape{};
  return normalise(args,
                   {args.input(0).shape(), params.axis, params.epsilon, params.centred, args.input(1).shape(), bias});
}

/// Parameters are per channel, the axis after the batch.
Status instanceNormReference(const OracleArgs& args) {
  const auto params = args.params<InstanceNormParams>();
  Shape shape = args.input(0).shape();
  const int64_t channels = shape[1], groups = params.groups == 0 ? channels : params.groups;
  Shape parameter(shape.size() - 1, 1);
  parameter[0] = channels;
  shape.insert(shape.begin() + 1, groups);
  shape[2] = groups == 0 ? 0 : channels / groups;
  return normalise(args, {shape, 2, params.epsilon, true, parameter, parameter});
}

}  // namespace opkit::ops::layer_norm
