#include "ops/features/scores.h"

#include <limits>

#include "engine/tensor/objects.h"
#include "ops/arg_reduce/arg_reduce_generated.h"
#include "ops/cast/cast_generated.h"
#include "ops/concat/concat_generated.h"
#include "ops/gather/gather_generated.h"

namespace opkit::ops::features {
namespace {

/// The softmax of the scores that are not 0; the others stay 0.
TensorId emitSoftmaxZero(OnnxNode& node, TensorId scores) {
  const TensorId zero = node.emitIntermediate("CastLike", {node.addConstant("zero", 0.0f), scores});
  const float infinity = std::numeric_limits<float>::infinity();
  const TensorId least = node.emitIntermediate("CastLike", {node.addConstant("least", -infinity), scores});
  const TensorId isZero = node.emitIntermediate("Equal", {scores, zero});
  const TensorId shares = node.emitIntermediate("Softmax", {node.emitIntermediate("Where", {isZero, least, scores})});
  return node.emitIntermediate("Where", {isZero, zero, shares});
}

/// sqrt(2) * erfinv(2 p - 1), by the approximation of Winitzki that ONNX Runtime has: with l = ln(1 - x^2) and
/// v = 2 / (pi a) + l / 2, erfinv(x) is sqrt(sqrt(v^2 - l / a) - v) with the sign of x; a = 0.147.
TensorId emitProbit(OnnxNode& node, TensorId scores) {
  constexpr double a = 0.147, pi = 3.14159265358979323846;
  const auto constant = [&](double value) {
    return node.emitIntermediate("CastLike", {node.addConstant("c", static_cast<float>(value)), scores});
  };
  const auto emit = [&](const char* type, TensorId x, TensorId y) { return node.emitIntermediate(type, {x, y}); };
  const TensorId one = constant(1), x = emit("Sub", emit("Add", scores, scores), one);
  const TensorId inside = emit("Mul", emit("Sub", one, x), emit("Add", one, x));  // 1 - x^2
  const TensorId line = node.emitIntermediate("Log", {inside});
  const TensorId v = emit("Add", emit("Mul", line, constant(0.5)), constant(2 / (pi * a)));
  const TensorId root =
      node.emitIntermediate("Sqrt", {emit("Sub", emit("Mul", v, v), emit("Mul", line, constant(1 / a)))});
  const TensorId size = node.emitIntermediate("Sqrt", {emit("Sub", root, v)});
  return emit("Mul", emit("Mul", size, constant(1.41421356f)), node.emitIntermediate("Sign", {x}));
}

}  // namespace

Result<Transform> transformOf(const OnnxNode& node) {
  return choiceAttribute<Transform>(node, "post_transform",
                                    {{"NONE", Transform::None},
                                     {"SOFTMAX", Transform::Softmax},
                                     {"LOGISTIC", Transform::Logistic},
                                     {"SOFTMAX_ZERO", Transform::SoftmaxZero},
                                     {"PROBIT", Transform::Probit}});
}

TensorId emitTransform(OnnxNode& node, Transform transform, TensorId scores) {
  switch (transform) {
    case Transform::None: return scores;
    case Transform::Softmax: return node.emitIntermediate("Softmax", {scores});
    case Transform::Logistic: return node.emitIntermediate("Sigmoid", {scores});
    case Transform::SoftmaxZero: return emitSoftmaxZero(node, scores);
    case Transform::Probit: return emitProbit(node, scores);
  }
  return scores;
}

TensorId emitCast(OnnxNode& node, TensorId x, DType dtype) {
  cast::CastParamsT params;
  params.to = static_cast<cast::ElementType>(dtype);
  return node.emitIntermediate("Cast", {x}, packParams(params));
}

TensorId emitFloat(OnnxNode& node, TensorId x) { return emitCast(node, x, DType::Float32); }

TensorId emitRows(OnnxNode& node, TensorId x, int64_t features) {
  const TensorId matrix = node.addConstant("matrix", std::vector<int64_t>{1, 1});
  const TensorId rows = node.addConstant("rows", std::vector<int64_t>{0, features});
  return node.emitIntermediate("Reshape", {node.emitIntermediate("Expand", {emitFloat(node, x), matrix}), rows});
}

Result<TensorId> addFloats(OnnxNode& node, const std::string& name, const std::vector<float>& values, Shape shape) {
  OPKIT_ASSIGN(Tensor tensor, Tensor::fromValues<float>({DType::Float32, std::move(shape)}, values));
  return node.addConstant(name, std::move(tensor));
}

Result<Tensor> labelsOf(const OnnxNode& node, const std::string& integers) {
  const std::vector<int64_t> numbers = node.intsAttribute(integers);
  const std::vector<std::string> strings = node.stringsAttribute("classlabels_strings");
  if (numbers.empty() == strings.empty())
    return Status::invalidArgument("{}: expected one of {} and classlabels_strings, got {}", node.opType(), integers,
                                   numbers.empty() ? "none" : "both");
  if (numbers.empty()) return stringTensor({std::ssize(strings)}, strings);
  return Tensor::fromValues<int64_t>({DType::Int64, {std::ssize(numbers)}}, numbers);
}

namespace {

/// Output 0: the label at each place.
Status emitLabels(OnnxNode& node, const Tensor& labels, TensorId place) {
  if (!node.hasOutput(0)) return Status::ok();
  const TensorId list = node.addConstant("labels", labels);
  if (labels.desc.dtype == DType::String) return node.emitOutput(0, "DecodeStrings", {place, list});
  return node.emitOutput(0, "Gather", {list, place}, packParams(gather::GatherParamsT{}));
}

}  // namespace

Status emitClasses(OnnxNode& node, const Tensor& labels, TensorId ranking, TensorId scores) {
  arg_reduce::ArgReduceParamsT params;
  params.axis = 1;
  params.keep_dims = false;
  OPKIT_TRY(emitLabels(node, labels, node.emitIntermediate("ArgMax", {ranking}, packParams(params))));
  return node.emitOutput(1, "Identity", {scores});
}

TensorId emitIsAbove(OnnxNode& node, TensorId scores, float least) {
  return node.emitIntermediate("Greater", {scores, node.addConstant("least", least)});
}

Status emitTwoClasses(OnnxNode& node, const Tensor& labels, Transform transform, const SharedScore& shared) {
  if (transform == Transform::Probit)
    return Status::unsupported("{}: post_transform must not be PROBIT if two classes share a score", node.opType());
  const TensorId list = node.addConstant("list", std::vector<int64_t>{-1});
  const TensorId place = emitCast(node, shared.isSecond, DType::Int64);
  OPKIT_TRY(emitLabels(node, labels, node.emitIntermediate("Reshape", {place, list})));
  const bool isLogistic = transform == Transform::Logistic;
  const TensorId first = shared.isShare && !isLogistic
                             ? node.emitIntermediate("Sub", {node.addConstant("whole", 1.0f), shared.scores})
                             : node.emitIntermediate("Neg", {shared.scores});
  concat::ConcatParamsT params;
  params.axis = 1;
  const TensorId scores = node.emitIntermediate("Concat", {first, shared.scores}, packParams(params));
  return node.emitOutput(1, isLogistic ? "Sigmoid" : "Identity", {scores});
}

}  // namespace opkit::ops::features
