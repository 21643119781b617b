// LinearClassifier and OneHotEncoder as networks of other operators.
#include "ops/cast/cast_generated.h"
#include "ops/features/rules.h"
#include "ops/features/scores.h"
#include "ops/gather/gather_generated.h"
#include "ops/gemm/gemm_generated.h"
#include "ops/reduce/reduce_generated.h"
#include "ops/text/known_strings.h"

namespace opkit::ops::features {

/// A row of coefficients per class; two classes may share one row, which then belongs to the second.
Status linearClassifier(OnnxNode& node) {
  OPKIT_ASSIGN(const Tensor labels, labelsOf(node, "classlabels_ints"));
  OPKIT_ASSIGN(const Transform transform, transformOf(node));
  const std::vector<float> coefficients = node.floatsAttribute("coefficients"),
                           intercepts = node.floatsAttribute("intercepts");
  const auto classes = labels.desc.elements(), count = static_cast<int64_t>(coefficients.size());
  const int64_t rows = intercepts.empty() ? classes : static_cast<int64_t>(intercepts.size());
  const bool isShared = rows == 1 && classes == 2;
  if (rows != classes && !isShared)
    return Status::invalidArgument("LinearClassifier: intercepts must be {}, got {}", classes, rows);
  if (count == 0 || count % rows != 0)
    return Status::invalidArgument("LinearClassifier: {} coefficients must divide into {} classes", count, rows);
  std::vector<TensorId> inputs{emitRows(node, node.input(0), count / rows)};
  OPKIT_ASSIGN(inputs.emplace_back(), addFloats(node, "coefficients", coefficients, {rows, count / rows}));
  if (!intercepts.empty()) {
    OPKIT_ASSIGN(inputs.emplace_back(), addFloats(node, "intercepts", intercepts, {rows}));
  }
  gemm::GemmParamsT params;
  params.trans_b = true;
  const TensorId scores = node.emitIntermediate("Gemm", std::move(inputs), packParams(params));
  if (isShared) return emitTwoClasses(node, labels, transform, {scores, emitIsAbove(node, scores, 0), true});
  return emitClasses(node, labels, scores, emitTransform(node, transform, scores));
}

namespace {

/// The elements of a OneHotEncoder as i64, strings by number, and its categories.
struct Categories {
  TensorId x;
  std::vector<int64_t> values;
};
Result<Categories> categoriesOf(OnnxNode& node) {
  const std::vector<std::string> strings = node.stringsAttribute("cats_strings");
  const std::vector<int64_t> integers = node.intsAttribute("cats_int64s");
  if (strings.empty() == integers.empty())
    return Status::invalidArgument("OneHotEncoder: expected one of cats_int64s and cats_strings, got {}",
                                   strings.empty() ? "none" : "both");
  if (strings.empty()) {
    OPKIT_TRY(text::requireNumbers(node, 0, "cats_int64s"));
    return Categories{emitCast(node, node.input(0), DType::Int64), integers};
  }
  const text::KnownStrings known = text::emitKnownStrings(node, 0, strings);
  return Categories{known.places, known.words};
}

}  // namespace

/// 1 where the element, cut off to an integer, is the category. Without `zeros`, an unknown one reads element 1 of a
/// list of one, which is an error of the run.
Status oneHotEncoder(OnnxNode& node) {
  OPKIT_ASSIGN(const Categories categories, categoriesOf(node));
  const TensorId last = node.addConstant("last", std::vector<int64_t>{-1});
  const TensorId x = node.emitIntermediate("Unsqueeze", {categories.x, last});
  const TensorId isThere = node.emitIntermediate("Equal", {x, node.addConstant("categories", categories.values)});
  if (node.intAttribute("zeros", 1) != 0) return node.emit("Cast", {isThere}, packParams(cast::CastParamsT{}));
  const TensorId y = emitFloat(node, isThere);
  reduce::ReduceParamsT keep;
  const TensorId known = node.emitIntermediate("ReduceMax", {y, last}, packParams(keep));
  const TensorId missing = node.emitIntermediate("Sub", {node.addConstant("one", 1.0f), known});
  const TensorId zeros = node.emitIntermediate("CastLike", {node.addConstant("zero", std::vector<int64_t>{0}), y});
  const TensorId nothing = node.emitIntermediate("Gather", {zeros, emitCast(node, missing, DType::Int64)},
                                                 packParams(gather::GatherParamsT{}));
  return node.emit("Add", {y, nothing});
}

}  // namespace opkit::ops::features
