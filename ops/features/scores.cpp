#include "ops/features/scores.h"

#include <limits>

#include "ops/arg_reduce/arg_reduce_generated.h"
#include "ops/cast/cast_generated.h"
#include "ops/concat/concat_generated.h"
#include "ops/gather/gather_generated.h"

namespace opkit::ops::features {
namespace {

/// The softmax of the scores that are not 0; the others stay 0.
int emitSoftmaxZero(OnnxNode& node, int scores) {
  const int zero = node.emitIntermediate("CastLike", {node.addConstant("zero", 0.0f), scores});
  const float infinity = std::numeric_limits<float>::infinity();
  const int least = node.emitIntermediate("CastLike", {node.addConstant("least", -infinity), scores});
  const int isZero = node.emitIntermediate("Equal", {scores, zero});
  const int shares = node.emitIntermediate("Softmax", {node.emitIntermediate("Where", {isZero, least, scores})});
  return node.emitIntermediate("Where", {isZero, zero, shares});
}

}  // namespace

Result<Transform> transformOf(const OnnxNode& node) {
  return choiceAttribute<Transform>(node, "post_transform",
                                    {{"NONE", Transform::None},
                                     {"SOFTMAX", Transform::Softmax},
                                     {"LOGISTIC", Transform::Logistic},
                                     {"SOFTMAX_ZERO", Transform::SoftmaxZero}});
}

int emitTransform(OnnxNode& node, Transform transform, int scores) {
  switch (transform) {
    case Transform::None: return scores;
    case Transform::Softmax: return node.emitIntermediate("Softmax", {scores});
    case Transform::Logistic: return node.emitIntermediate("Sigmoid", {scores});
    case Transform::SoftmaxZero: return emitSoftmaxZero(node, scores);
  }
  return scores;
}

int emitCast(OnnxNode& node, int x, DType dtype) {
  cast::CastParamsT params;
  params.to = static_cast<cast::ElementType>(dtype);
  return node.emitIntermediate("Cast", {x}, packParams(params));
}

int emitFloat(OnnxNode& node, int x) { return emitCast(node, x, DType::Float32); }

Result<int> addFloats(OnnxNode& node, const std::string& name, const std::vector<float>& values, Shape shape) {
  OPKIT_ASSIGN(Tensor tensor, Tensor::fromValues<float>({DType::Float32, std::move(shape)}, values));
  return node.addConstant(name, std::move(tensor));
}

Result<std::vector<int64_t>> integerLabels(const OnnxNode& node, const std::string& name) {
  if (!node.stringsAttribute("classlabels_strings").empty())
    return Status::unsupported("{}: class labels must be integers, got classlabels_strings", node.opType());
  std::vector<int64_t> labels = node.intsAttribute(name);
  if (labels.empty()) return Status::invalidArgument("{}: expected the attribute {}", node.opType(), name);
  return labels;
}

Status emitClasses(OnnxNode& node, const std::vector<int64_t>& labels, int ranking, int scores) {
  arg_reduce::ArgReduceParamsT params;
  params.axis = 1;
  params.keep_dims = false;
  const int place = node.emitIntermediate("ArgMax", {ranking}, packParams(params));
  OPKIT_TRY(
      node.emitOutput(0, "Gather", {node.addConstant("labels", labels), place}, packParams(gather::GatherParamsT{})));
  return node.emitOutput(1, "Identity", {scores});
}

int emitSecondClass(OnnxNode& node, int scores, bool isShare) {
  const int first = isShare ? node.emitIntermediate("Sub", {node.addConstant("whole", 1.0f), scores})
                            : node.emitIntermediate("Neg", {scores});
  concat::ConcatParamsT params;
  params.axis = 1;
  return node.emitIntermediate("Concat", {first, scores}, packParams(params));
}

}  // namespace opkit::ops::features
