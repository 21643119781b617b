#include <cmath>

#include "engine/op/oracle_windows.h"
#include "ops/conv/conv.h"

namespace opkit::ops::conv {
namespace {

/// Outputs along an axis, neighbours of each other.
struct Outputs {
  int64_t begin = 0;
  int64_t end = 0;
};

/// Those for which a tap lies on the input.
Outputs outputsOn(const WindowAxis& axis, int64_t tap) {
  Outputs outputs;
  const auto isOn = [&](int64_t o) { return tapPosition(axis, o, tap) >= 0 && tapPosition(axis, o, tap) < axis.input; };
  while (outputs.begin < axis.output && !isOn(outputs.begin)) ++outputs.begin;
  outputs.end = outputs.begin;
  while (outputs.end < axis.output && isOn(outputs.end)) ++outputs.end;
  return outputs;
}

// Adds one kernel tap of one input channel to one output channel: w * x[window position] for every output whose
// tap lies inside the input. The innermost loop runs along a row so that compilers can vectorise it.
void addTap(const std::vector<WindowAxis>& axes, const int64_t (&tap)[3], double weight, const double* x, double* y) {
  const Outputs planes = outputsOn(axes[0], tap[0]), rows = outputsOn(axes[1], tap[1]);
  const Outputs columns = outputsOn(axes[2], tap[2]);
  const int64_t count = columns.end - columns.begin, stride = axes[2].stride;
  for (int64_t plane = planes.begin; plane < planes.end; ++plane) {
    for (int64_t row = rows.begin; row < rows.end; ++row) {
      const int64_t inputRow = tapPosition(axes[0], plane, tap[0]) * axes[1].input + tapPosition(axes[1], row, tap[1]);
      const double* source = x + inputRow * axes[2].input + tapPosition(axes[2], columns.begin, tap[2]);
      double* target = y + (plane * axes[1].output + row) * axes[2].output + columns.begin;
      if (stride == 1)
        for (int64_t i = 0; i < count; ++i) target[i] += weight * source[i];
      else
        for (int64_t i = 0; i < count; ++i) target[i] += weight * source[i * stride];
    }
  }
}

/// Products of the extents of all axes.
struct Sizes {
  int64_t inputs = 1;
  int64_t outputs = 1;
  int64_t taps = 1;
};

Sizes sizesOf(const std::vector<WindowAxis>& axes) {
  Sizes sizes;
  for (const WindowAxis& axis : axes) {
    sizes.inputs *= axis.input;
    sizes.outputs *= axis.output;
    sizes.taps *= axis.kernel;
  }
  return sizes;
}

// y += w (*) x; y holds the bias or zero.
void accumulate(const ConvPlan& plan, const double* x, const double* w, double* y) {
  const Sizes sizes = sizesOf(plan.axes);
  const int64_t outputs = plan.groups * plan.groupOutputs;
  for (int64_t n = 0; n < plan.batch; ++n) {
    for (int64_t m = 0; m < outputs; ++m) {
      double* target = y + (n * outputs + m) * sizes.outputs;
      const int64_t firstChannel = m / plan.groupOutputs * plan.groupInputs;
      const double* weight = w + m * plan.groupInputs * sizes.taps;
      for (int64_t c = 0; c < plan.groupInputs; ++c) {
        const int64_t channel = n * plan.groups * plan.groupInputs + firstChannel + c;
        const double* source = x + channel * sizes.inputs;
        for (int64_t kd = 0; kd < plan.axes[0].kernel; ++kd)
          for (int64_t kh = 0; kh < plan.axes[1].kernel; ++kh)
            for (int64_t kw = 0; kw < plan.axes[2].kernel; ++kw)
              addTap(plan.axes, {kd, kh, kw}, *weight++, source, target);
      }
    }
  }
}

void addBias(const ConvPlan& plan, const std::vector<double>& bias, std::vector<double>& y) {
  const int64_t positions = std::max<int64_t>(sizesOf(plan.axes).outputs, 1);
  const auto channels = static_cast<int64_t>(bias.size());
  for (size_t i = 0; i < y.size(); ++i)
    y[i] = bias[static_cast<size_t>(static_cast<int64_t>(i) / positions % channels)];
}

std::vector<double> absolute(std::vector<double> values) {
  for (double& value : values) value = std::fabs(value);
  return values;
}

}  // namespace

Status reference(const OracleArgs& args) {
  const OracleTensor& x = args.input(0);
  const OracleTensor& w = args.input(1);
  OracleTensor& y = args.output();
  const Shape* biasShape = args.hasInput(2) ? &args.input(2).shape() : nullptr;
  const auto params = args.params<ConvParams>();
  OPKIT_ASSIGN(ConvPlan plan, planConv(params, x.shape(), w.shape(), biasShape));
  while (plan.axes.size() < 3) plan.axes.insert(plan.axes.begin(), WindowAxis{1, 1, 1, 1, 1, 0, 0});
  if (biasShape) addBias(plan, args.input(2).real, y.real);
  accumulate(plan, x.real.data(), w.real.data(), y.real.data());
  clampReals(y, params.clamp_low, params.clamp_high);
  y.terms = plan.groupInputs * sizesOf(plan.axes).taps + (biasShape ? 1 : 0);
  if (!args.wantMagnitude) return Status::ok();

  y.magnitude.assign(y.real.size(), 0.0);
  if (biasShape) addBias(plan, absolute(args.input(2).real), y.magnitude);
  accumulate(plan, absolute(x.real).data(), absolute(w.real).data(), y.magnitude.data());
  return Status::ok();
}

}  // namespace opkit::ops::conv
