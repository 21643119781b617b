// The rules of ai.onnx.ml that stand in files of their own; features_onnx.cpp adds them.
#pragma once

#include "engine/import/onnx/onnx_rules.h"

namespace opkit::ops::features {

Status linearClassifier(OnnxNode& node);
Status oneHotEncoder(OnnxNode& node);
Status svmClassifier(OnnxNode& node);
Status svmRegressor(OnnxNode& node);
Status zipMap(OnnxNode& node);

}  // namespace opkit::ops::features
