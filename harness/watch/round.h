// A round of `watch`: the cases of the operators on each backend, on Vulkan in one device class after the other. Runs
// in a worker process, a lane per job, so that a lane that hangs or crashes ends alone and the first that fails is told
// while the others wait.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/backend/device_class.h"
#include "harness/cases/case_file.h"
#include "harness/check/check.h"
#include "harness/watch/edited_files.h"

namespace opkit::vulkan {
class VulkanRuntime;
}

namespace opkit::harness {

class Sources;

/// The shaders that the cases of a group dispatch, by lane and by the group's first case.
using ShadersOfGroups = std::map<std::string, std::map<std::string, std::set<std::string>>>;

/// What a round checks.
struct RoundPlan {
  std::vector<std::string> ops;
  std::set<std::string> folders;  // of the operators
  std::string source;             // the tree of shaders and cases
  std::string filter;             // only cases with this text in their id or name
  std::string sanitize;           // parts of the sanitizer (harness/trace/sanitizer.h); empty: none
  std::string library;            // of the operators' C++; empty: the program's
  std::vector<std::string> backends;
  bool otherClasses = false;       // on Vulkan, all device classes, with buffers and with images
  std::vector<EditedFile> edited;  // these shaders come from the tree
  bool allFromTree = false;        // all do
  bool onlyShaders = false;        // nothing else was edited: groups that do not run these shaders are left out
  bool draws = false;              // also the cases that `check` draws
  double budgetSeconds = 0.7;      // of a lane, smallest groups first
  std::set<std::string> failing;   // first cases of the groups that failed last; they come first
  ShadersOfGroups shaders;         // as far as known

  size_t lanes() const;
  /// "cpu", "vulkan", "vulkan, another device class".
  std::string nameOf(size_t lane) const {
    return lane < backends.size() ? backends[lane] : "vulkan, another device class";
  }
};

/// What a job of a round found.
struct LaneReport {
  std::string lane;             // "cpu", "vulkan", "vulkan, device class discrete with images"
  std::string error;            // of compiling or reading: nothing was checked
  size_t groups = 0, left = 0;  // checked; left for lack of time
  size_t failures = 0;
  double margin = 0;                // the largest
  std::vector<std::string> blocks;  // of the first failures
  std::set<std::string> failing;    // groups
  std::vector<EditedFile> unseen;   // edited files of which no lane so far ran a shader
  ShadersOfGroups shaders;          // of this lane
  size_t spirvWords = 0;            // of the tree's variants so far
  // Of the device's own class:
  double deviceNs = 0;     // of the largest case that was checked, by the device's clock
  double efficiency = 0;   // of the memory accesses of the sized case below (harness/trace); 0: not traced
  double requests = 0;     // its requested bytes over the bytes of its inputs and outputs
  std::string tracedCase;  // its id

  std::string toText() const;
  static std::optional<LaneReport> fromText(const std::string& text);
};

class RoundWorker {
 public:
  RoundWorker(RoundPlan plan, const OpRegistry& registry);
  ~RoundWorker();

  /// Checks lane `lane`, in order of lanes; lane plan.lanes() looks in all lanes for a group that runs a shader of each
  /// edited file that no lane has run.
  LaneReport run(size_t lane);

 private:
  struct Lane {
    std::string name, backend;
    bool isOwnClass = true;
    std::shared_ptr<Runtime> runtime;  // shared with its Sessions
    std::set<std::string> checked;     // groups
    // Of the cases that ran an edited shader; checkLane traces them.
    std::optional<PreparedCase> smallest, largest;
  };
  Status open();
  Result<Catalogue> readCases() const;
  Result<Lane*> openLane(size_t lane);
  Result<Lane> makeLane(size_t lane);
  Checker checkerFor(Lane& lane);
  void checkLane(Lane& lane, LaneReport& report);
  void checkGroup(Lane& lane, Checker& checker, const CaseGroup& group, LaneReport& report);
  void noteEdited(Lane& lane, const PreparedGroup& group) const;
  void traceEdited(Lane& lane, LaneReport& report);
  void checkRefusals(Checker& checker, LaneReport& report);
  static bool addResults(const std::vector<CaseResult>& results, const std::string& lane, LaneReport& report);
  void seek(LaneReport& report);
  std::vector<const CaseGroup*> orderedGroups(const Lane& lane) const;
  bool mayRunEdited(const Lane& lane, const CaseGroup& group) const;
  bool runsEdited(Lane& lane, const CaseGroup& group);
  const std::set<std::string>& shadersOf(Lane& lane, const CaseGroup& group);
  std::vector<EditedFile> unseen() const;
  void measure(Lane& lane, LaneReport& report);

  RoundPlan plan_;
  const OpRegistry& built_;
  std::optional<OpRegistry> own_;  // with the library's operators
  Catalogue catalogue_;
  bool isOpen_ = false;
  std::unique_ptr<Sources> sources_;
  std::shared_ptr<vulkan::VulkanRuntime> vulkan_;  // of the device's own class; shared by the lanes
  std::deque<DeviceClass> classes_;                // of the lanes' Runtimes
  std::map<size_t, Lane> lanes_;
  PreparedGroup largest_;  // that was checked in the device's own class
};

}  // namespace opkit::harness
