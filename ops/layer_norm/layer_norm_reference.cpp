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

Statistics statisticsOf(std::span<const double> row, double epsilon) {
  const auto count = static_cast<double>(row.size());
  double sum = 0, magnitude = 0;
  for (const double value : row) {
    sum += value;
    magnitude += std::fabs(value);
  }
  const double mean = sum / count;
  double squares = 0;
  for (const double value : row) squares += (value - mean) * (value - mean);
  return {mean, 1 / std::sqrt(squares / count + epsilon), magnitude / count};
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

/// Rows are elements that differ along the axes from `axis` on; scale and bias are per row position, or per channel.
Status normalise(const OracleArgs& args, int64_t axis, double epsilon, bool perChannel) {
  const std::vector<double>&x = args.input(0).real, &scale = args.input(1).real;
  const Shape& shape = args.input(0).shape();
  const bool hasBias = args.hasInput(2);
  OracleTensor& y = args.output();
  std::vector<bool> together(shape.size());
  for (size_t d = 0; d < shape.size(); ++d) together[d] = d >= axisFromFront(axis, shape.size());
  prepareMagnitude(args);
  forEachGroup(shape, together, [&](size_t row, const std::vector<size_t>& elements) {
    for (OracleTensor& output : args.outputs) output.terms = static_cast<int64_t>(elements.size());
    std::vector<double> values;
    for (const size_t element : elements) values.push_back(x[element]);
    const Statistics statistics = statisticsOf(values, epsilon);
    storeStatistics(args, row, statistics);
    const double skew = 1 + std::fabs(statistics.mean) * statistics.inverseDeviation;
    for (size_t i = 0; i < elements.size(); ++i) {
      const size_t column = perChannel ? row % static_cast<size_t>(shape[1]) : i;
      const double centred = (values[i] - statistics.mean) * statistics.inverseDeviation;
      y.real[elements[i]] = centred * scale[column] + (hasBias ? args.input(2).real[column] : 0.0);
      if (args.wantMagnitude) y.magnitude[elements[i]] = skew * std::fabs(scale[column]);
    }
  });
  return Status::ok();
}

}  // namespace

Status layerNormReference(const OracleArgs& args) {
  const auto params = args.params<LayerNormParams>();
  return normalise(args, params.axis, params.epsilon, false);
}

Status instanceNormReference(const OracleArgs& args) {
  return normalise(args, 2, args.params<InstanceNormParams>().epsilon, true);
}

}  // namespace opkit::ops::layer_norm
