// NegativeLogLikelihoodLoss and SoftmaxCrossEntropyLoss as parts: each sample's element of its class is gathered, so
// that nothing behind the logarithm of the softmax reads all classes. Halves are computed in f32 and rounded once.
#include "ops/nll_loss/nll_loss.h"

#include "engine/op/op_registry.h"
#include "engine/op/shape_rules.h"
#include "ops/gather/gather_generated.h"
#include "ops/nll_loss/nll_loss_schema.h"
#include "ops/parts.h"
#include "ops/softmax/softmax_generated.h"

namespace opkit::ops::nll_loss {
namespace {

using Value = Decomposition::Value;

/// Labels that are known before a run must be classes.
Status checkLabels(const Tensor* labels, const NllLossParamsT& params, int64_t classes) {
  if (!labels) return Status::ok();
  for (const int64_t label : toInt64(*labels)) {
    const bool ignored = params.has_ignore_index && label == params.ignore_index;
    if (!ignored && (label < 0 || label >= classes))
      return Status::invalidArgument("labels must be in [0, {}), got {}", classes, label);
  }
  return Status::ok();
}

/// The loss, and for further outputs a description like the scores.
Result<std::vector<TensorDesc>> shapeRule(const ShapeArgs& args) {
  const auto params = args.params<NllLossParams>();
  const Shape& x = args.shape(0);
  if (x.size() < 2 || x[1] < 1)
    return Status::invalidArgument("the input must be [batch, classes, ...] with a class or more, got {}", toString(x));
  Shape samples = x;
  samples.erase(samples.begin() + 1);
  if (args.shape(1) != samples)
    return Status::invalidArgument("labels must be {} for input {}, got {}", toString(samples), toString(x),
                                   toString(args.shape(1)));
  OPKIT_TRY(requireParameter(args, 2, "weights", {x[1]}));
  OPKIT_TRY(checkLabels(args.contents[1], params, x[1]));
  const Shape loss = params.reduction == LossReduction::None ? samples : Shape{};
  return std::vector{TensorDesc{args.input(0).dtype, loss}, args.input(0)};
}

Result<std::vector<TensorDesc>> nllShapeRule(const ShapeArgs& args) {
  OPKIT_ASSIGN(std::vector<TensorDesc> outputs, shapeRule(args));
  outputs.pop_back();
  return outputs;
}

/// The labels of all samples, [batch, 1, ...].
struct Labels {
  Value classes;                           // that elements are gathered with; of an ignored sample any
  Value ignored = Decomposition::kAbsent;  // true where the sample does not count
};

/// GatherElements and Gather take a negative index for one from the end, so it becomes one that they refuse.
Result<Labels> labelsOf(const ShapeArgs& args, const NllLossParamsT& params, Decomposition& parts) {
  const DType dtype = args.input(1).dtype;
  OPKIT_ASSIGN(const Value axis, listOf(parts, {1}));
  OPKIT_ASSIGN(const Value zero, scalarOf(parts, dtype, 0));
  OPKIT_ASSIGN(const Value refused, scalarOf(parts, dtype, std::numeric_limits<int32_t>::min()));
  const Value given = parts.add("Unsqueeze", {parts.input(1), axis});
  Labels labels{parts.add("Where", {parts.add("Less", {given, zero}), refused, given})};
  const bool fits = dtype == DType::Int64 || params.ignore_index == static_cast<int32_t>(params.ignore_index);
  if (!params.has_ignore_index || !fits) return labels;
  OPKIT_ASSIGN(const Value index, scalarOf(parts, dtype, params.ignore_index));
  labels.ignored = parts.add("Equal", {given, index});
  labels.classes = parts.add("Where", {labels.ignored, zero, labels.classes});
  return labels;
}

/// The weight of every sample in `dtype`; absent if all count once.
Result<Value> weightsOf(const ShapeArgs& args, const Labels& labels, DType dtype, Decomposition& parts) {
  if (!args.hasInput(2) && labels.ignored < 0) return Decomposition::kAbsent;
  OPKIT_ASSIGN(Value weights, scalarOf(parts, dtype, 1));
  if (args.hasInput(2)) {
    weights = parts.add("Gather", {parts.input(2), labels.classes}, packParams(gather::GatherParamsT{}));
    weights = castTo(parts, weights, args.input(2).dtype, dtype);
  }
  if (labels.ignored < 0) return weights;
  OPKIT_ASSIGN(const Value zero, scalarOf(parts, dtype, 0));
  return parts.add("Where", {labels.ignored, zero, weights});
}

/// Losses with the other sign, [batch, 1, ...], reduced to the shape of the output.
Result<Value> reducedGains(LossReduction reduction, Value gains, Value weights, Decomposition& parts) {
  if (reduction == LossReduction::None) {
    OPKIT_ASSIGN(const Value axis, listOf(parts, {1}));
    return parts.add("Squeeze", {gains, axis});
  }
  const auto folded = [&](const char* type, Value x) { return reduced(parts, type, x, {}, false); };
  if (reduction == LossReduction::Mean && weights < 0) return folded("ReduceMean", gains);
  const Value sum = folded("ReduceSum", gains);
  return reduction == LossReduction::Sum ? sum : parts.add("Div", {sum, folded("ReduceSum", weights)});
}

/// The loss from logarithms of probabilities [batch, classes, ...] of element type `from`.
Result<Value> lossOf(const ShapeArgs& args, Value logarithms, DType from, Decomposition& parts) {
  const auto params = args.params<NllLossParams>();
  const DType dtype = widened(from);
  OPKIT_ASSIGN(const Labels labels, labelsOf(args, params, parts));
  gather::GatherParamsT alongClasses;
  alongClasses.axis = 1;
  const Value chosen = parts.add("GatherElements", {logarithms, labels.classes}, packParams(alongClasses));
  Value gains = castTo(parts, chosen, from, dtype);
  OPKIT_ASSIGN(const Value weights, weightsOf(args, labels, dtype, parts));
  if (args.hasInput(2)) gains = parts.add("Mul", {gains, weights});
  if (labels.ignored >= 0) {  // zero also where the product is NaN
    OPKIT_ASSIGN(const Value zero, scalarOf(parts, dtype, 0));
    gains = parts.add("Where", {labels.ignored, zero, gains});
  }
  OPKIT_ASSIGN(gains, reducedGains(params.reduction, gains, weights, parts));
  return castTo(parts, parts.add("Neg", {gains}), dtype, args.input(0).dtype);
}

Status nllParts(const ShapeArgs& args, std::span<const TensorDesc>, Decomposition& parts) {
  OPKIT_ASSIGN(const Value loss, lossOf(args, parts.input(0), args.input(0).dtype, parts));
  parts.setOutput(0, loss);
  return Status::ok();
}

Status crossEntropyParts(const ShapeArgs& args, std::span<const TensorDesc>, Decomposition& parts) {
  const DType given = args.input(0).dtype, dtype = widened(given);
  softmax::SoftmaxParamsT params;
  params.axis = 1;
  params.log = true;
  const Value scores = castTo(parts, parts.input(0), given, dtype);
  const Value logarithms = parts.add("Softmax", {scores}, packParams(params));
  OPKIT_ASSIGN(const Value loss, lossOf(args, logarithms, dtype, parts));
  parts.setOutput(0, loss);
  if (args.outputCount > 1) parts.setOutput(1, castTo(parts, logarithms, dtype, given));
  return Status::ok();
}

}  // namespace

void define(OpRegistry& registry) {
  const std::vector<Port> inputs{{"x", kFloats}, {"labels", kIndexTypes}, {"weights", kFloats, Port::Kind::Optional}};
  registry.add({.type = "NegativeLogLikelihoodLoss",
                .summary = "the loss of samples whose logarithms of class probabilities are given",
                .params = paramsSchema<NllLossParams>(kNllLossSchema),
                .inputs = inputs,
                .outputs = {{"loss", kFloats}},
                .numeric = NumericClass::Sum,
                .inferShapes = nllShapeRule,
                .decompose = nllParts,
                .flops = [](const ShapeArgs& args, auto) { return 2.0 * args.input(1).elements(); },
                .oracle = hiding(nllReference, nllHidden)});
  registry.add({.type = "SoftmaxCrossEntropyLoss",
                .summary = "the loss of samples whose class scores are given",
                .params = paramsSchema<NllLossParams>(kNllLossSchema),
                .inputs = inputs,
                .outputs = {{"loss", kFloats}, {"log_prob", kFloats, Port::Kind::Optional}},
                .numeric = NumericClass::Norm,
                .inferShapes = shapeRule,
                .decompose = crossEntropyParts,
                .flops = [](const ShapeArgs& args, auto) { return 5.0 * args.input(0).elements(); },
                .oracle = hiding(crossEntropyReference, crossEntropyHidden)});
}

}  // namespace opkit::ops::nll_loss
