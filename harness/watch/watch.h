// watch: when shaders, the operator's C++ or case files change, runs the affected cases again.
//
// Each round runs in a separate process, so that a kernel that hangs or crashes ends only the round. Shaders whose
// files changed since the start are compiled from the source tree, and so is the C++ of the operator's folder if it
// differs from the build (operator_build.h); all else comes from the build.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "harness/cases/case_file.h"
#include "harness/run/build_facts.h"

namespace opkit::harness {

struct WatchOptions {
  std::vector<std::string> ops;  // at least one
  std::string source = sourceFolder();
  double budgetSeconds = 0.7;  // time to check groups, smallest first; infinity checks all
  double timeoutSeconds = 20;
  /// The sources in a tree that differ from those of this program (harness/run/source_table.h).
  std::function<std::vector<std::string>(const std::string& source)> changedSources = nullptr;
  /// Compiles the C++ of the operators' folders; returns the library (OperatorBuild::run). None: C++ needs a build.
  std::function<Result<std::string>()> buildOperators = nullptr;
};

struct WatchRound {
  std::string error;                  // of compiling or reading: nothing was checked
  std::vector<std::string> backends;  // that were checked
  double buildSeconds = 0;            // of the operators' C++; 0: it is that of the program
  size_t groups = 0, groupsLeft = 0;  // checked; left for lack of time
  size_t failures = 0;
  std::vector<std::string> blocks;  // of the first failures
  double margin = 0;                // the largest of the round
  double deviceNs = 0;              // of the largest case that was checked, by the device's clock
  double efficiency = 0;            // of the memory accesses of the sized case below (harness/trace); 0: not traced
  double requests = 0;              // its requested bytes over the bytes of its inputs and outputs
  std::string tracedCase;           // its id
  size_t spirvWords = 0;            // of the changed shaders' variants that were dispatched
  bool crashed = false;

  /// True if nothing failed so far; complete only if no group is left.
  bool good() const { return error.empty() && !crashed && failures == 0 && groups > 0; }
  bool complete() const { return groupsLeft == 0; }
};

class Watcher {
 public:
  Watcher(WatchOptions options, const OpRegistry& registry);

  /// Looks at every watched file; true when one changed since the last look (the first look sees none).
  bool poll();
  /// Runs the checks for all changes so far.
  WatchRound run();
  /// From now on every shader is compiled from the source tree, changed or not.
  void takeAll() { all_ = true; }
  /// Changed sources that need a build: the results of run() do not hold for them.
  std::vector<std::string> unbuilt() const;
  const std::set<std::string>& folders() const { return folders_; }

 private:
  struct Job;
  std::vector<std::string> watchedFiles() const;
  bool isOwnCode(const std::string& path) const;
  std::vector<std::string> changedCode() const;
  std::vector<std::string> changedCases() const;
  std::vector<std::string> chooseBackends(const std::vector<std::string>& code);
  Result<Catalogue> readCases(const OpRegistry& registry) const;
  std::string work(const Job& job) const;

  WatchOptions options_;
  const OpRegistry& registry_;
  std::set<std::string> folders_;  // of the operators
  std::map<std::string, std::filesystem::file_time_type> times_;
  std::set<std::string> changed_;  // paths
  std::set<std::string> fresh_;    // of those, since the last round
  std::set<std::string> failing_;  // first cases of the groups that failed last; they come first
  bool all_ = false;
};

}  // namespace opkit::harness
