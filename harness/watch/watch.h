// watch: when shaders, the operator's C++ or case files change, runs the affected cases again.
//
// Each round runs in a separate process (round.h), so that a kernel that hangs or crashes ends only the round. Shaders
// whose files changed since the start are compiled from the source tree, and so is the C++ of the operator's folder if
// it differs from the build (operator_build.h); all else comes from the build.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "harness/run/build_facts.h"
#include "harness/watch/round.h"

namespace opkit::harness {

struct WatchOptions {
  std::vector<std::string> ops;  // at least one
  std::string source = sourceFolder();
  std::string filter;                 // only cases with this text in their id or name
  std::string sanitize;               // parts of the sanitizer (harness/trace/sanitizer.h); empty: none
  std::vector<std::string> backends;  // of those that the changes concern only these; empty: all
  bool draws = false;                 // also the cases that `check` draws
  double budgetSeconds = 0.7;         // to check groups in a lane, smallest first; infinity checks all
  double timeoutSeconds = 20;         // of a lane
  /// The sources in a tree that differ from those of this program (harness/run/source_table.h).
  std::function<std::vector<std::string>(const std::string& source)> changedSources = nullptr;
  /// Compiles the C++ of the operators' folders; returns the library (OperatorBuild::run). None: C++ needs a build.
  std::function<Result<std::string>()> buildOperators = nullptr;
};

struct WatchRound {
  std::string error;                  // of compiling or reading: nothing was checked
  std::vector<std::string> lanes;     // that were checked: backends, device classes of Vulkan
  double buildSeconds = 0;            // of the operators' C++; 0: it is that of the program
  size_t groups = 0, groupsLeft = 0;  // checked, in all lanes; left for lack of time
  size_t failures = 0;
  std::vector<std::string> blocks;  // of the first failures
  double margin = 0;                // the largest of the round
  LaneReport own;                   // of Vulkan in the device's own class: times and accesses
  size_t spirvWords = 0;            // of the changed shaders' variants that were dispatched
  std::vector<std::string> unseen;  // edited files that no case executed: what they are, and which command runs them
  bool crashed = false;

  /// True if nothing failed so far and every edited shader was executed; complete only if no group is left.
  bool good() const { return error.empty() && !crashed && failures == 0 && groups > 0 && unseen.empty(); }
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
  std::vector<std::string> watchedFiles() const;
  bool isOwnCode(const std::string& path) const;
  std::vector<std::string> changedCode() const;
  std::vector<std::string> changedCases() const;
  std::vector<std::string> chooseBackends(const std::set<std::string>& fresh) const;
  std::vector<EditedFile> editedSources() const;
  std::set<std::string> freshPaths(const std::vector<std::string>& code);
  RoundPlan planOf(const std::vector<std::string>& code);
  Status build(const std::vector<std::string>& code, RoundPlan& plan, WatchRound& round) const;
  void take(const LaneReport& report, bool isLast, WatchRound& round);
  void runLanes(const RoundPlan& plan, WatchRound& round);
  std::string describeUnseen(const EditedFile& file, const RoundPlan& plan) const;

  WatchOptions options_;
  const OpRegistry& registry_;
  std::set<std::string> folders_;  // of the operators
  std::map<std::string, std::filesystem::file_time_type> times_;
  std::set<std::string> changed_;  // paths
  std::set<std::string> fresh_;    // of those, since the last round
  std::set<std::string> failing_;  // first cases of the groups that failed last; they come first
  ShadersOfGroups shaders_;        // as far as known; of the C++ and cases of the last round
  bool all_ = false;
};

}  // namespace opkit::harness
