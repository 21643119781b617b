// Batch normalisation in training as parts: statistics of the batch by two passes, so that a large mean costs no
// precision, and running ones.
#include "ops/batch_norm/batch_norm.h"

#include "ops/parts.h"

namespace opkit::ops::batch_norm {
namespace {

using Value = Decomposition::Value;

/// Which axes have statistics of their own: that of channels, or, where not spatial, all but the batch.
std::vector<bool> keptAxes(const BatchNormParamsT& params, const Shape& x) {
  std::vector<bool> kept(x.size(), false);
  for (size_t d = 1; d < x.size(); ++d) kept[d] = d == 1 || !params.spatial;
  return kept;
}

/// x without the axes that statistics fold; [1] for a list.
Shape statisticsShape(const BatchNormParamsT& params, const Shape& x) {
  if (x.size() < 2) return {1};
  return params.spatial ? Shape{x[1]} : Shape(x.begin() + 1, x.end());
}

class Training {
 public:
  Training(const ShapeArgs& args, Decomposition& parts)
      : args_(args), parts_(parts), params_(args.params<BatchNormParams>()), dtype_(widened(args.input(0).dtype)) {
    const std::vector<bool> kept = keptAxes(params_, args.shape(0));
    for (size_t d = 0; d < kept.size(); ++d) {
      broadcast_.push_back(kept[d] ? args.shape(0)[d] : 1);
      if (!kept[d]) axes_.push_back(static_cast<int64_t>(d));
    }
  }

  Status build(size_t outputs) {
    const Value x = castTo(parts_, parts_.input(0), args_.input(0).dtype, dtype_);
    const Value mean = reduced(parts_, "ReduceMean", x, axes_, true);
    const Value centred = parts_.add("Sub", {x, mean});
    const Value variance = reduced(parts_, "ReduceMean", parts_.add("Mul", {centred, centred}), axes_, true);
    OPKIT_ASSIGN(const Value epsilon, scalarOf(parts_, dtype_, params_.epsilon));
    const Value deviation = parts_.add("Sqrt", {parts_.add("Add", {variance, epsilon})});
    OPKIT_ASSIGN(const Value scale, channels(1));
    OPKIT_ASSIGN(const Value bias, channels(2));
    const Value scaled = parts_.add("Mul", {parts_.add("Div", {centred, deviation}), scale});
    parts_.setOutput(0, castTo(parts_, parts_.add("Add", {scaled, bias}), dtype_, args_.input(0).dtype));
    const Value batch[] = {mean, variance};
    for (size_t i = 1; i < outputs; ++i) {
      const size_t statistic = (i - 1) % 2;
      OPKIT_ASSIGN(const Value value,
                   i < 3 ? running(3 + statistic, batch[statistic]) : Result<Value>(batch[statistic]));
      OPKIT_TRY(setStatistic(i, value, args_.input(3 + statistic).dtype));
    }
    return Status::ok();
  }

 private:
  /// Input `i`, one value per statistic, in a shape that broadcasts to x.
  Result<Value> channels(size_t i) {
    const Value value = castTo(parts_, parts_.input(i), args_.input(i).dtype, dtype_);
    OPKIT_ASSIGN(const Value shape, listOf(parts_, broadcast_));
    return parts_.add("Reshape", {value, shape});
  }
  Result<Value> running(size_t i, Value batch) {
    OPKIT_ASSIGN(const Value old, channels(i));
    OPKIT_ASSIGN(const Value momentum, scalarOf(parts_, dtype_, params_.momentum));
    OPKIT_ASSIGN(const Value rest, scalarOf(parts_, dtype_, 1 - static_cast<double>(params_.momentum)));
    return parts_.add("Add", {parts_.add("Mul", {old, momentum}), parts_.add("Mul", {batch, rest})});
  }
  Status setStatistic(size_t output, Value value, DType dtype) {
    OPKIT_ASSIGN(const Value shape, listOf(parts_, statisticsShape(params_, args_.shape(0))));
    parts_.setOutput(output, parts_.add("Reshape", {castTo(parts_, value, dtype_, dtype), shape}));
    return Status::ok();
  }

  const ShapeArgs& args_;
  Decomposition& parts_;
  BatchNormParamsT params_;
  DType dtype_;
  Shape broadcast_;  // of a statistic, as long as x
  std::vector<int64_t> axes_;
};

}  // namespace

Result<std::vector<TensorDesc>> trainingRule(const ShapeArgs& args) {
  static constexpr const char* kNames[] = {"x", "scale", "bias", "mean", "variance"};
  const Shape& x = args.shape(0);
  if (x.empty() || elementCount(x) == 0)
    return Status::invalidArgument("training needs elements along one axis or more, got {}", toString(x));
  const Shape expected = statisticsShape(args.params<BatchNormParams>(), x);
  for (size_t i = 1; i < 5; ++i)
    if (args.shape(i) != expected)
      return Status::invalidArgument("{} must be {} for input {}, got {}", kNames[i], toString(expected), toString(x),
                                     toString(args.shape(i)));
  std::vector<TensorDesc> outputs{args.input(0)};
  for (size_t i = 0; i < 4; ++i) outputs.push_back({args.input(3 + i % 2).dtype, expected});
  return outputs;
}

Status decomposeTraining(const ShapeArgs& args, std::span<const TensorDesc> outputs, Decomposition& parts) {
  return Training(args, parts).build(outputs.size());
}

}  // namespace opkit::ops::batch_norm
