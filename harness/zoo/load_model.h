// loadModel: how every program gets a model from what the user typed.
#pragma once

#include <string>

#include "engine/import/onnx/onnx_rules.h"
#include "engine/model/model.h"

namespace opkit {

/// MODEL is zoo:NAME or the path of an .onnx or .opk file (told apart by their first bytes), imported with the
/// operators of this build. Messages name the path, what was expected and what was found.
Result<Model> loadModel(const std::string& model);
/// The same with the operators of a program that loaded plugins.
Result<Model> loadModel(const std::string& model, const OpRegistry& registry, const OnnxRules& rules);

}  // namespace opkit
