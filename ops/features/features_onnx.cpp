// The operators of ai.onnx.ml that work on numbers, made of others. Those whose results are f32 for every input begin
// with a Cast; the others bring their constants to the type of x by CastLike.
#include "engine/import/onnx/onnx_fields.h"
#include "ops/concat/concat_generated.h"
#include "ops/features/features_parts.h"
#include "ops/features/rules.h"
#include "ops/features/scores.h"
#include "ops/gather/gather_generated.h"
#include "ops/gemm/gemm_generated.h"
#include "ops/reduce/reduce_generated.h"
#include "ops/text/known_strings.h"
#include "ops/text/over_strings.h"

namespace opkit::ops::features {
namespace {

/// The indices, of any shape, are a list along the last axis. A list gives a matrix of one row: Expand makes two axes.
Status arrayFeatureExtractor(OnnxNode& node) {
  gather::GatherParamsT params;
  params.axis = -1;
  const TensorId list = node.addConstant("list", std::vector<int64_t>{-1});
  const TensorId indices = node.emitIntermediate("Reshape", {node.input(1), list});
  const TensorId columns = node.emitIntermediate("Gather", {node.input(0), indices}, packParams(params));
  return node.emit("Expand", {columns, node.addConstant("matrix", std::vector<int64_t>{1, 1})});
}

Shape lengthOf(const std::vector<float>& values) { return {static_cast<int64_t>(values.size())}; }

/// The last node: `value`, which has the shape of x. The run fails if a list of values made it wider.
Status emitLikeInput(OnnxNode& node, TensorId value) {
  return node.emit("Reshape", {value, node.emitIntermediate("Shape", {node.input(0)})});
}

Status scaler(OnnxNode& node) {
  const std::vector<float> offset = node.floatsAttribute("offset"), scale = node.floatsAttribute("scale");
  TensorId value = emitFloat(node, node.input(0));
  if (!offset.empty()) {
    OPKIT_ASSIGN(const TensorId by, addFloats(node, "offset", offset, lengthOf(offset)));
    value = node.emitIntermediate("Sub", {value, by});
  }
  if (!scale.empty()) {
    OPKIT_ASSIGN(const TensorId by, addFloats(node, "scale", scale, lengthOf(scale)));
    value = node.emitIntermediate("Mul", {value, by});
  }
  return emitLikeInput(node, value);
}

/// x / norm, or x where that is 0.
Status normalizer(OnnxNode& node) {
  OPKIT_ASSIGN(
      const std::string fold,
      choiceAttribute<std::string>(node, "norm", {{"MAX", "ReduceMax"}, {"L1", "ReduceL1"}, {"L2", "ReduceL2"}}));
  const TensorId x = emitFloat(node, node.input(0)), axes = node.addConstant("axes", std::vector<int64_t>{-1});
  const TensorId norm = node.emitIntermediate(fold, {x, axes}, packParams(reduce::ReduceParamsT{}));
  const TensorId isZero = node.emitIntermediate("Equal", {norm, node.addConstant("zero", 0.0f)});
  return node.emit("Div", {x, node.emitIntermediate("Where", {isZero, node.addConstant("one", 1.0f), norm})});
}

Status linearRegressor(OnnxNode& node) {
  const std::vector<float> coefficients = node.floatsAttribute("coefficients"),
                           intercepts = node.floatsAttribute("intercepts");
  const auto count = static_cast<int64_t>(coefficients.size()), targets = node.intAttribute("targets", 1);
  OPKIT_ASSIGN(const Transform transform, transformOf(node));
  if (targets < 1 || count == 0 || count % targets != 0)
    return Status::invalidArgument("LinearRegressor: {} coefficients must divide into {} targets", count, targets);
  if (!intercepts.empty() && lengthOf(intercepts)[0] != targets)
    return Status::invalidArgument("LinearRegressor: intercepts must be {}, got {}", targets, intercepts.size());
  std::vector<TensorId> inputs{emitRows(node, node.input(0), count / targets)};
  OPKIT_ASSIGN(inputs.emplace_back(), addFloats(node, "coefficients", coefficients, {targets, count / targets}));
  if (!intercepts.empty()) {
    OPKIT_ASSIGN(inputs.emplace_back(), addFloats(node, "intercepts", intercepts, {targets}));
  }
  gemm::GemmParamsT params;
  params.trans_b = true;
  if (transform == Transform::None) return node.emit("Gemm", std::move(inputs), packParams(params));
  const TensorId scores = node.emitIntermediate("Gemm", std::move(inputs), packParams(params));
  return node.emit("Identity", {emitTransform(node, transform, scores)});
}

Status imputer(OnnxNode& node) {
  const std::vector<float> floats = node.floatsAttribute("imputed_value_floats");
  const std::vector<int64_t> integers = node.intsAttribute("imputed_value_int64s");
  if (floats.empty() == integers.empty())
    return Status::invalidArgument("Imputer: expected one of imputed_value_floats and imputed_value_int64s");
  OPKIT_TRY(text::requireNumbers(node, 0, "its imputed value"));
  const TensorId x = node.input(0);
  const auto likeX = [&](TensorId value) { return node.emitIntermediate("CastLike", {value, x}); };
  if (floats.empty()) {
    const TensorId replaced = node.addConstant("replaced", std::vector{node.intAttribute("replaced_value_int64", 0)});
    const TensorId imputed = node.addConstant("imputed", integers);
    const TensorId mask = node.emitIntermediate("Equal", {x, likeX(replaced)});
    return emitLikeInput(node, node.emitIntermediate("Where", {mask, likeX(imputed), x}));
  }
  OPKIT_ASSIGN(const TensorId imputed, addFloats(node, "imputed", floats, lengthOf(floats)));
  const float replaced = node.floatAttribute("replaced_value_float", 0);
  const TensorId mask = replaced != replaced
                            ? node.emitIntermediate("IsNaN", {x})
                            : node.emitIntermediate("Equal", {x, likeX(node.addConstant("replaced", replaced))});
  return emitLikeInput(node, node.emitIntermediate("Where", {mask, likeX(imputed), x}));
}

Status featureVectorizer(OnnxNode& node) {
  const std::vector<int64_t> sizes = node.intsAttribute("inputdimensions");
  if (sizes.size() != node.inputCount())
    return Status::invalidArgument("FeatureVectorizer: inputdimensions must have {} values, got {}", node.inputCount(),
                                   sizes.size());
  std::vector<TensorId> columns;
  for (size_t i = 0; i < sizes.size(); ++i) columns.push_back(emitRows(node, node.input(i), sizes[i]));
  concat::ConcatParamsT params;
  params.axis = 1;
  return node.emit("Concat", std::move(columns), packParams(params));
}

}  // namespace

void addOnnx(OnnxRules& rules) {
  rules.add("ai.onnx.ml::ArrayFeatureExtractor", {}, text::overStrings(arrayFeatureExtractor));
  rules.add("ai.onnx.ml::Binarizer",
            nodeOf<FeaturesParamsT>("Binarizer", {field("threshold", &FeaturesParamsT::threshold)}));
  rules.add("ai.onnx.ml::FeatureVectorizer", {"inputdimensions"}, featureVectorizer);
  rules.add("ai.onnx.ml::Imputer",
            {"imputed_value_floats", "imputed_value_int64s", "replaced_value_float", "replaced_value_int64"}, imputer);
  rules.add("ai.onnx.ml::LinearClassifier",
            {"classlabels_ints", "classlabels_strings", "coefficients", "intercepts", "multi_class", "post_transform"},
            linearClassifier);
  rules.add("ai.onnx.ml::LinearRegressor", {"coefficients", "intercepts", "post_transform", "targets"},
            linearRegressor);
  rules.add("ai.onnx.ml::Normalizer", {"norm"}, normalizer);
  rules.add("ai.onnx.ml::OneHotEncoder", {"cats_int64s", "cats_strings", "zeros"}, oneHotEncoder);
  rules.add("ai.onnx.ml::Scaler", {"offset", "scale"}, scaler);
  rules.add("ai.onnx.ml::SVMClassifier",
            {"classlabels_ints", "classlabels_strings", "coefficients", "kernel_params", "kernel_type",
             "post_transform", "prob_a", "prob_b", "rho", "support_vectors", "vectors_per_class"},
            svmClassifier);
  rules.add("ai.onnx.ml::SVMRegressor",
            {"coefficients", "kernel_params", "kernel_type", "n_supports", "one_class", "post_transform", "rho",
             "support_vectors"},
            svmRegressor);
  rules.add("ai.onnx.ml::ZipMap", {"classlabels_int64s", "classlabels_strings"}, zipMap);
  rules.note("ai.onnx.ml::ArrayFeatureExtractor", {"Gather"});
  rules.note("ai.onnx.ml::Binarizer", {"Binarizer"});
  rules.note("ai.onnx.ml::FeatureVectorizer", {"Reshape", "Concat"});
  rules.note("ai.onnx.ml::Imputer", {"IsNaN", "Equal", "Where"});
  rules.note("ai.onnx.ml::LinearClassifier", {"Gemm", "Softmax", "ArgMax", "Gather"},
             "post_transform is not PROBIT if two classes share a score");
  rules.note("ai.onnx.ml::LinearRegressor", {"Gemm", "Softmax"});
  rules.note("ai.onnx.ml::Normalizer", {"ReduceMax", "ReduceL1", "ReduceL2", "Div"});
  rules.note("ai.onnx.ml::OneHotEncoder", {"Equal", "Cast", "Gather"});
  rules.note("ai.onnx.ml::Scaler", {"Sub", "Mul"});
  rules.note("ai.onnx.ml::SVMClassifier", {"Gemm", "Pow", "Tanh", "Exp", "ArgMax", "Gather", "Det"},
             "two labels or more; post_transform is not PROBIT if two classes share a score");
  rules.note("ai.onnx.ml::SVMRegressor", {"Gemm", "Pow", "Tanh", "Exp"});
  rules.note("ai.onnx.ml::ZipMap", {"Reshape"}, "gives the scores, a column per label, in place of maps");
}

}  // namespace opkit::ops::features
