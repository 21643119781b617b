#include "harness/zoo/load_model.h"

#include <filesystem>

#include "engine/import/onnx/onnx_importer.h"
#include "harness/zoo/zoo.h"
#include "ops/builtin_ops.h"

namespace opkit {
namespace {

constexpr std::string_view kZooPrefix = "zoo:";

Result<Model> parse(const std::string& model, const OpRegistry& registry, const OnnxRules& rules) {
  if (model.starts_with(kZooPrefix)) {
    OPKIT_ASSIGN(const auto bytes, buildZoo(model.substr(kZooPrefix.size())));
    return importOnnx(bytes, rules, registry);
  }
  OPKIT_ASSIGN(Model read, readModelFile(model, rules, registry));
  OPKIT_TRY(validateModel(read, registry));
  return read;
}

/// Whether there is something to parse.
Status checkName(const std::string& model) {
  if (model.starts_with(kZooPrefix)) return checkZoo(model.substr(kZooPrefix.size()));
  std::error_code error;
  return std::filesystem::is_regular_file(model, error) ? Status::ok() : readFile(model).error();
}

}  // namespace

Result<Model> loadModel(const std::string& model) {
  return loadModel(model, ops::builtinOps(), ops::builtinOnnxRules());
}

Result<Model> loadModel(const std::string& model, const OpRegistry& registry, const OnnxRules& rules) {
  OPKIT_TRY(checkName(model).withContext("expected an .onnx or .opk file or zoo:NAME"));
  Result<Model> parsed = parse(model, registry, rules);
  if (!parsed) return parsed.error().withContext(fmt::format("model '{}'", model));
  return parsed;
}

}  // namespace opkit
