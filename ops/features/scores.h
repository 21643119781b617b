// The post transforms and labels of the classifiers and regressors of ai.onnx.ml. For import rules.
#pragma once

#include "engine/import/onnx/onnx_rules.h"

namespace opkit::ops::features {

enum class Transform { None, Softmax, Logistic, SoftmaxZero, Probit };

/// The attribute post_transform. Unsupported lists the choices.
Result<Transform> transformOf(const OnnxNode& node);

/// Emits the transformation of f32 or f64 scores [rows, columns]; returns the result.
TensorId emitTransform(OnnxNode& node, Transform transform, TensorId scores);

/// Emits a conversion to f32 or another type.
TensorId emitFloat(OnnxNode& node, TensorId x);
TensorId emitCast(OnnxNode& node, TensorId x, DType dtype);

/// Emits `x` in f32 as rows of `features` elements; a list is one row. The run fails if the rows are longer or shorter.
TensorId emitRows(OnnxNode& node, TensorId x, int64_t features);

/// A constant of the model with one f32 per value.
Result<TensorId> addFloats(OnnxNode& node, const std::string& name, const std::vector<float>& values, Shape shape);

/// The class labels in attribute `integers` or in classlabels_strings, of which one must be there: i64 or strings.
Result<Tensor> labelsOf(const OnnxNode& node, const std::string& integers);

/// Emits output 0, the label of the largest of each row of `ranking` (the first of equal ones), [rows], and output 1,
/// the scores.
Status emitClasses(OnnxNode& node, const Tensor& labels, TensorId ranking, TensorId scores);

/// Emits whether each score is above `least`.
TensorId emitIsAbove(OnnxNode& node, TensorId scores, float least);

/// Emits both outputs of two classes that share one score s, [rows, 1]. LOGISTIC transforms -s and s. The other
/// transforms change nothing, as in ONNX Runtime: the scores are 1 - s and s if `isShare`, else -s and s. Unsupported
/// for PROBIT.
struct SharedScore {
  TensorId scores;
  TensorId isSecond;  // whether the label is the second
  bool isShare;
};
Status emitTwoClasses(OnnxNode& node, const Tensor& labels, Transform transform, const SharedScore& shared);

}  // namespace opkit::ops::features
