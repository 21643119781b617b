// The import rules of tree ensembles and what they share.
#pragma once

#include "engine/import/onnx/onnx_rules.h"
#include "ops/tree_ensemble/forest.h"
#include "ops/tree_ensemble/tree_ensemble_parts.h"

namespace opkit::ops::tree_ensemble {

using Integers = std::vector<int64_t>;
using Reals = std::vector<double>;

/// Parameters with the number of targets that the node declares.
Result<TreeEnsembleParamsT> targetsOf(const OnnxNode& node);
/// InvalidArgument unless the list `name` has as many values as expected.
Status requireCount(const OnnxNode& node, const std::string& name, size_t count, size_t expected);
/// A list of `count` integers.
Result<Integers> integersOf(const OnnxNode& node, const std::string& name, size_t count);
/// The same; all zero if the attribute is missing.
Result<Integers> flagsOf(const OnnxNode& node, const std::string& name, size_t count);
/// The values of a tensor of floats.
Result<Reals> realsOf(const OnnxNode& node, const std::string& name);
/// A host tensor of f32 or f64.
Result<Tensor> tensorOf(DType dtype, Shape shape, const Reals& values);

/// Emits the walk of input 0 through the forest; returns the scores [rows, targets] of `dtype`: f32 or f64. The
/// parameter `trees` is set here.
Result<TensorId> emitScores(OnnxNode& node, const Forest& forest, TreeEnsembleParamsT params, DType dtype);

/// The operators of opsets 1 and 3.
Status treeEnsembleRegressor(OnnxNode& node);
Status treeEnsembleClassifier(OnnxNode& node);

}  // namespace opkit::ops::tree_ensemble
