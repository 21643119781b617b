#include "harness/zoo/load_model.h"

#include "engine/import/onnx/onnx_importer.h"
#include "harness/zoo/zoo.h"
#include "ops/builtin_ops.h"

namespace opkit {
namespace {

constexpr std::string_view kZooPrefix = "zoo:";

/// FlatBuffers keep the file identifier in bytes 4 to 7.
bool isOpk(std::span<const uint8_t> bytes) {
  constexpr std::string_view kIdentifier = "OPKT";
  return bytes.size() >= 8 && std::equal(kIdentifier.begin(), kIdentifier.end(), bytes.begin() + 4,
                                         [](char a, uint8_t b) { return static_cast<uint8_t>(a) == b; });
}

Result<Model> parseModel(std::span<const uint8_t> bytes, const OpRegistry& registry, const OnnxRules& rules) {
  if (!isOpk(bytes)) return importOnnx(bytes, rules, registry);
  OPKIT_ASSIGN(Model model, readModel(bytes));
  OPKIT_TRY(validateModel(model, registry));
  return model;
}

}  // namespace

Result<Model> loadModel(const std::string& model) {
  return loadModel(model, ops::builtinOps(), ops::builtinOnnxRules());
}

Result<Model> loadModel(const std::string& model, const OpRegistry& registry, const OnnxRules& rules) {
  Result<std::vector<uint8_t>> bytes =
      model.starts_with(kZooPrefix) ? buildZoo(model.substr(kZooPrefix.size())) : readFile(model);
  if (!bytes) return bytes.error().withContext("expected an .onnx or .opk file or zoo:NAME");
  Result<Model> parsed = parseModel(*bytes, registry, rules);
  if (!parsed) return parsed.error().withContext(fmt::format("model '{}'", model));
  return parsed;
}

}  // namespace opkit
