// loadModel: loads the model that a user names on the command line.
#pragma once

#include <string>

#include "engine/import/onnx/onnx_rules.h"
#include "engine/model/model.h"

namespace opkit {

/// MODEL is zoo:NAME (with parameters: harness/zoo/zoo.h) or the path of an .onnx or .opk file (distinguished by their
/// first bytes), imported with the operators of this build. Messages name the path, the expected and the found content.
Result<Model> loadModel(const std::string& model);
/// The same with the operators of a program that loaded plugins.
Result<Model> loadModel(const std::string& model, const OpRegistry& registry, const OnnxRules& rules);

}  // namespace opkit
