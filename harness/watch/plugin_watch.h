// watch of a plugin: whenever one of its sources is saved, builds it and checks its operators in a process of its own,
// which loads the new library.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "engine/base/status.h"

namespace opkit::harness {

struct PluginWatchOptions {
  std::vector<std::string> libraries;  // at least one; without `build` these and the cases beside them are watched
  std::string build;                   // a command of the shell; empty: somebody else builds the library
  /// With `build`: the folder of the sources, without builds by CMake in it. Empty: the folder of the first library, or
  /// the one around it if CMake builds there.
  std::string source;
  std::vector<std::string> check;  // the program and the arguments that check the operators
};

class PluginWatcher {
 public:
  /// InvalidArgument if there is nothing to watch.
  static Result<PluginWatcher> create(PluginWatchOptions options);

  /// Looks at every watched file; true if one is new, gone or saved since the last look.
  bool poll();
  /// Builds, then checks, and prints what both print. Returns the exit code of the check; of a failed build,
  /// kCheckFailed.
  Result<int> run() const;
  /// "3 files in half_relu"
  std::string describe() const;

 private:
  using Times = std::map<std::string, std::filesystem::file_time_type>;

  explicit PluginWatcher(PluginWatchOptions options) : options_(std::move(options)), times_(look()) {}
  Times look() const;

  PluginWatchOptions options_;
  Times times_;
};

}  // namespace opkit::harness
