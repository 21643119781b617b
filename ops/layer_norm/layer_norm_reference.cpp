#include <cmath>

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

void prepareMagnitude(const OracleArgs& args, int64_t terms) {
  for (OracleTensor& output : args.outputs) {
    output.terms = terms;
    if (args.wantMagnitude) output.magnitude.assign(output.real.size(), 0.0);
  }
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

Status normalise(const OracleArgs& args, const NormRows& rows) {
  const std::vector<double>&x = args.input(0).real, &scale = args.input(1).real;
  const bool hasBias = args.hasInput(2);
  OracleTensor& y = args.output();
  prepareMagnitude(args, rows.extent);
  const auto extent = static_cast<size_t>(rows.extent);
  for (size_t row = 0; row < static_cast<size_t>(rows.rows); ++row) {
    const Statistics statistics = statisticsOf({x.data() + row * extent, extent}, rows.epsilon);
    storeStatistics(args, row, statistics);
    const double skew = 1 + std::fabs(statistics.mean) * statistics.inverseDeviation;
    for (size_t i = 0; i < extent; ++i) {
      const size_t channel = rows.channels > 0 ? row % static_cast<size_t>(rows.channels) : i;
      const double centred = (x[row * extent + i] - statistics.mean) * statistics.inverseDeviation;
      y.real[row * extent + i] = centred * scale[channel] + (hasBias ? args.input(2).real[channel] : 0.0);
      if (args.wantMagnitude) y.magnitude[row * extent + i] = skew * std::fabs(scale[channel]);
    }
  }
  return Status::ok();
}

}  // namespace

Status layerNormReference(const OracleArgs& args) {
  return normalise(args, layerRows(args.params<LayerNormParams>(), args.input(0).shape()));
}

Status instanceNormReference(const OracleArgs& args) {
  return normalise(args, instanceRows(args.params<InstanceNormParams>(), args.input(0).shape()));
}

}  // namespace opkit::ops::layer_norm
