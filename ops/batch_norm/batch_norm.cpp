#include "ops/batch_norm/batch_norm.h"

#include "engine/op/op_registry.h"

namespace opkit::ops::batch_norm {
namespace {

Result<std::vector<TensorDesc>> shapeRule(const ShapeArgs& args) {
  static constexpr const char* kNames[] = {"x", "scale", "bias", "mean", "variance"};
  const Shape& x = args.shape(0);
  if (x.empty()) return Status::invalidArgument("the input must have rank 1 or more, got []");
  const int64_t channels = x.size() > 1 ? x[1] : 1;
  for (size_t i = 1; i < 5; ++i) {
    if (args.shape(i) != Shape{channels})
      return Status::invalidArgument("{} must be [{}] for input {}, got {}", kNames[i], channels, toString(x),
                                     toString(args.shape(i)));
    if (args.input(i).dtype != args.input(i > 2 ? 3 : 1).dtype)
      return Status::invalidArgument("{} must have the type {}, got {}", kNames[i],
                                     nameOf(args.input(i > 2 ? 3 : 1).dtype), nameOf(args.input(i).dtype));
  }
  return std::vector{args.input(0)};
}

}  // namespace

void define(OpRegistry& registry) {
  registry.add(
      {.type = "BatchNormalization",
       .summary = "(x - mean) / sqrt(variance + epsilon) * scale + bias per channel, as in inference",
       .params = paramsSchema<BatchNormParams>(kBatchNormSchema),
       .inputs = {{"x", kFloats}, {"scale", kFloats}, {"bias", kFloats}, {"mean", kFloats}, {"variance", kFloats}},
       .outputs = {{"y"}},
       .numeric = NumericClass::Norm,
       .inPlace = {0},
       .inferShapes = shapeRule,
       .flops = [](const ShapeArgs& args, auto) { return 2.0 * args.input(0).elements(); },
       .oracle = reference});
  registry.add(
      {.type = "TrainingBatchNormalization",
       .summary = "batch normalisation by the statistics of the batch, and the running statistics",
       .params = paramsSchema<BatchNormParams>(kBatchNormSchema),
       .inputs = {{"x", kFloats}, {"scale", kFloats}, {"bias", kFloats}, {"mean", kFloats}, {"variance", kFloats}},
       .outputs = {{"y", kFloats},
                   {"running_mean", kFloats, Port::Kind::Optional},
                   {"running_variance", kFloats, Port::Kind::Optional},
                   {"batch_mean", kFloats, Port::Kind::Optional},
                   {"batch_variance", kFloats, Port::Kind::Optional}},
       .numeric = NumericClass::Norm,
       .inferShapes = trainingRule,
       .decompose = decomposeTraining,
       .flops = [](const ShapeArgs& args, auto) { return 7.0 * static_cast<double>(args.input(0).elements()); },
       .oracle = trainingReference});
}

}  // namespace opkit::ops::batch_norm
