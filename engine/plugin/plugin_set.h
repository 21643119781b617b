// PluginSet: the operators, passes and backends of this build plus those of the plugins a program has loaded.
//
// load() registers all of a plugin or nothing. registry() and onnxRules() are what models are imported and run with;
// references taken before a load stay valid and keep what they had, so sessions on other threads are not disturbed.
// unload() refuses while an Interpreter, a Session or a Runtime made since the load is alive. load and unload are
// for one thread at a time. The set must outlive the Interpreters made with its registry.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/import/onnx/onnx_rules.h"
#include "engine/op/op_registry.h"

namespace opkit {

struct PluginInfo {
  std::string name;
  std::string version;
  std::string path;
  std::vector<std::string> operators;
  std::vector<std::string> kernels;  // of operators that exist: "Softmax on cpu"
  std::vector<std::string> backends;
  std::vector<std::string> passes;
};

class PluginSet {
 public:
  PluginSet(const OpRegistry& operators, const OnnxRules& rules);
  ~PluginSet();
  PluginSet(const PluginSet&) = delete;
  PluginSet& operator=(const PluginSet&) = delete;

  /// Loads a shared library. InvalidArgument names the file and what is wrong with it: not there, not a library, no
  /// opkit_plugin_get, another ABI version, a mistake in what it announces, a key that is taken.
  Result<PluginInfo> load(const std::string& path);
  /// InvalidArgument for an unknown name, or while the plugin is in use ("busy").
  Status unload(const std::string& name);

  const OpRegistry& registry() const;
  const OnnxRules& onnxRules() const;
  std::vector<PluginInfo> plugins() const;

 private:
  struct Loaded;
  struct Snapshot;
  Result<std::unique_ptr<Snapshot>> makeSnapshot() const;
  Status publish();

  std::vector<std::unique_ptr<Loaded>> loaded_;
  std::vector<std::unique_ptr<Snapshot>> snapshots_;  // the last is current; the others may still be referred to
};

}  // namespace opkit
