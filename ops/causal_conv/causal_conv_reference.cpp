#include <cmath>

#include "engine/op/oracle_elements.h"
#include "ops/causal_conv/causal_conv_parts.h"

namespace opkit::ops::causal_conv {
namespace {

/// Element `i` of a channel's row, counted from the first of x; the state lies before it, and zeros before that.
double elementOf(const OracleArgs& args, int64_t batch, int64_t channel, int64_t i) {
  if (i >= 0) return args.input(0).real[elementAt(args.input(0).shape(), {batch, channel, i})];
  if (!args.hasInput(3)) return 0;
  const Shape& past = args.input(3).shape();
  return args.input(3).real[elementAt(past, {batch, channel, past[2] + i})];
}

}  // namespace

Status reference(const OracleArgs& args) {
  const OracleTensor& weight = args.input(1);
  const int64_t size = weight.shape()[2], length = args.input(0).shape()[2];
  const bool swish = args.params<CausalConvParams>().swish;
  OracleTensor& y = args.output();
  for (OracleTensor& output : args.outputs) {
    output.terms = size + 1;
    if (args.wantMagnitude) output.magnitude.assign(output.real.size(), 0.0);
  }
  forEachCoordinates(y.shape(), [&](size_t i, const Coordinates& at) {
    double sum = args.hasInput(2) ? args.input(2).real[static_cast<size_t>(at[1])] : 0, magnitude = std::fabs(sum);
    for (int64_t k = 0; k < size; ++k) {
      const double factor = weight.real[elementAt(weight.shape(), {at[1], 0, k})];
      const double term = factor * elementOf(args, at[0], at[1], at[2] - (size - 1) + k);
      sum += term;
      magnitude += std::fabs(term);
    }
    y.real[i] = swish ? sum / (1 + std::exp(-sum)) : sum;
    if (args.wantMagnitude) y.magnitude[i] = magnitude;
  });
  if (args.outputs.size() < 2) return Status::ok();
  OracleTensor& state = args.output(1);
  forEachCoordinates(state.shape(), [&](size_t i, const Coordinates& at) {
    state.real[i] = elementOf(args, at[0], at[1], length - state.shape()[2] + at[2]);
  });
  return Status::ok();
}

}  // namespace opkit::ops::causal_conv
