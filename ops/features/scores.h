// The post transforms and labels of the classifiers and regressors of ai.onnx.ml. For import rules.
#pragma once

#include "engine/import/onnx/onnx_rules.h"

namespace opkit::ops::features {

enum class Transform { None, Softmax, Logistic, SoftmaxZero };

/// The attribute post_transform. Unsupported lists the choices.
Result<Transform> transformOf(const OnnxNode& node);

/// Emits the transformation of f32 or f64 scores [rows, columns]; returns the result.
int emitTransform(OnnxNode& node, Transform transform, int scores);

/// Emits a conversion to f32 or another type.
int emitFloat(OnnxNode& node, int x);
int emitCast(OnnxNode& node, int x, DType dtype);

/// A constant of the model with one f32 per value.
Result<int> addFloats(OnnxNode& node, const std::string& name, const std::vector<float>& values, Shape shape);

/// The integer class labels in attribute `name`. Unsupported if the model has labels that are strings.
Result<std::vector<int64_t>> integerLabels(const OnnxNode& node, const std::string& name);

/// Emits output 0, the label of the largest of each row of `ranking` (the first of equal ones), i64[rows], and output
/// 1, the scores.
Status emitClasses(OnnxNode& node, const std::vector<int64_t>& labels, int ranking, int scores);

/// The scores [rows, 2] of two classes, given those of the second, [rows, 1]: 1 - s and s if `isShare`, else -s and s.
int emitSecondClass(OnnxNode& node, int scores, bool isShare);

}  // namespace opkit::ops::features
