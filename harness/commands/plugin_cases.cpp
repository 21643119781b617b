// The operators and cases that --plugin brings to every command.
#include <filesystem>

#include "engine/model/model.h"
#include "harness/commands/commands.h"
#include "ops/builtin_ops.h"

namespace opkit::harness {
namespace {

/// "dir/libacme.so" -> "dir/acme.cases.json"
std::filesystem::path caseFileOf(const std::filesystem::path& plugin) {
  std::string stem = plugin.stem().string();
  if (stem.starts_with("lib")) stem.erase(0, 3);
  return plugin.parent_path() / (stem + ".cases.json");
}

}  // namespace

cli::Plugins& plugins() {
  static cli::Plugins instance(ops::builtinOps(), ops::builtinOnnxRules());
  return instance;
}

Status appendPluginCases(Catalogue& catalogue, const OpRegistry& registry) {
  for (const PluginInfo& plugin : plugins().plugins()) {
    const std::string file = caseFileOf(plugin.path).string();
    if (!std::filesystem::exists(file)) {
      if (plugin.operators.empty()) continue;  // kernels run the cases of their operators
      fmt::print(stderr, "op-harness: note: plugin '{}' has no cases; expected them in {}\n", plugin.name, file);
      continue;
    }
    OPKIT_ASSIGN(const auto bytes, readFile(file));
    OPKIT_ASSIGN(Catalogue cases, parseCaseFile(file, {bytes.begin(), bytes.end()}, registry));
    catalogue.append(std::move(cases));
  }
  return Status::ok();
}

}  // namespace opkit::harness
