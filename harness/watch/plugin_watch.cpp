#include "harness/watch/plugin_watch.h"

#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <set>

#include "engine/base/child_process.h"
#include "engine/tools/cli.h"

namespace opkit::harness {

namespace fs = std::filesystem;

namespace {

bool isBuildFolder(const fs::path& folder) {
  std::error_code error;
  return fs::exists(folder / "CMakeCache.txt", error);
}

bool isSource(const fs::path& file) {
  static const std::set<std::string> kinds = {".c",   ".cc",  ".cpp",  ".cxx",  ".h",   ".hh",
                                              ".hpp", ".inc", ".comp", ".glsl", ".json"};
  return kinds.contains(file.extension().string()) || file.filename() == "CMakeLists.txt" ||
         file.filename() == "Makefile";
}

/// "libhalf_relu.so" has its cases in "half_relu.cases.json".
fs::path casesOf(const fs::path& library) {
  const std::string name = library.stem().string();
  return library.parent_path() / ((name.starts_with("lib") ? name.substr(3) : name) + ".cases.json");
}

std::string sourceOf(const std::string& library) {
  const fs::path folder = fs::absolute(library).lexically_normal().parent_path();
  return (isBuildFolder(folder) ? folder.parent_path() : folder).string();
}

/// Both streams of a program, in order.
Result<ChildRun> runBoth(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {"/bin/sh", "-c", "exec \"$0\" \"$@\" 2>&1"});
  return runChild(arguments);
}

}  // namespace

Result<PluginWatcher> PluginWatcher::create(PluginWatchOptions options) {
  if (options.source.empty()) options.source = sourceOf(options.libraries.front());
  PluginWatcher watcher(std::move(options));
  if (watcher.times_.empty())
    return Status::invalidArgument("--source {}: no C, C++, GLSL or case file there", watcher.options_.source);
  return watcher;
}

PluginWatcher::Times PluginWatcher::look() const {
  Times times;
  std::error_code error;
  const auto add = [&](const fs::path& file) {
    const auto time = fs::last_write_time(file, error);
    if (!error) times[file.string()] = time;
  };
  if (options_.build.empty()) {
    for (const std::string& library : options_.libraries) add(library), add(casesOf(library));
    return times;
  }
  for (auto entry =
           fs::recursive_directory_iterator(options_.source, fs::directory_options::skip_permission_denied, error);
       entry != fs::recursive_directory_iterator(); entry.increment(error)) {
    if (error) break;
    const fs::path& path = entry->path();
    if (entry->is_directory(error) && (isBuildFolder(path) || path.filename().string().starts_with('.')))
      entry.disable_recursion_pending();
    else if (isSource(path) && entry->is_regular_file(error))
      add(path);
  }
  return times;
}

bool PluginWatcher::poll() {
  Times now = look();
  const bool isChanged = now != times_;
  times_ = std::move(now);
  return isChanged;
}

Result<int> PluginWatcher::run() const {
  if (!options_.build.empty()) {
    const auto start = std::chrono::steady_clock::now();
    OPKIT_ASSIGN(const ChildRun built, runBoth({"/bin/sh", "-c", options_.build}));
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    fmt::print("{}", built.output);
    if (built.exitCode != 0) {
      fmt::print("error after {:.2f} s: the build ended with {}: {}\n", took.count(), built.exitCode, options_.build);
      std::fflush(stdout);
      return cli::kCheckFailed;
    }
    fmt::print("built in {:.2f} s\n", took.count());
    std::fflush(stdout);
  }
  OPKIT_ASSIGN(const ChildRun checked, runBoth(options_.check));
  fmt::print("{}", checked.output);
  std::fflush(stdout);
  return checked.exitCode;
}

std::string PluginWatcher::describe() const {
  if (!options_.build.empty()) return fmt::format("{} files in {}", times_.size(), options_.source);
  std::string names;
  for (const auto& [file, time] : times_) names += (names.empty() ? "" : ", ") + file;
  return names;
}

}  // namespace opkit::harness
