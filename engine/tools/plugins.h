// The option --plugin FILE of every OpKit program.
//
//   cli::Plugins plugins(ops::builtinOps(), ops::builtinOnnxRules());
//   plugins.add(app);
//   ... in the body: OPKIT_TRY(plugins.load()); then plugins.registry() in place of builtinOps() ...
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "engine/plugin/plugin_set.h"

namespace opkit::cli {

class Plugins {
 public:
  Plugins(const OpRegistry& operators, const OnnxRules& rules) : set_(operators, rules) {}

  /// Adds the option to a program or a subcommand.
  void add(CLI::App& app);
  /// Loads the given files in order, each after a trial in another process. The first failure ends the program.
  Status load();

  const OpRegistry& registry() const { return set_.registry(); }
  const OnnxRules& onnxRules() const { return set_.onnxRules(); }
  std::vector<PluginInfo> plugins() const { return set_.plugins(); }

 private:
  PluginSet set_;
  std::vector<std::string> files_;
};

}  // namespace opkit::cli
