// CheckJob: the work of `check` in a worker process. Results return to the command as text.
#pragma once

#include "harness/check/check.h"
#include "harness/commands/commands.h"
#include "harness/run/expectations.h"

namespace opkit::harness {

struct JobReport {
  CaseRecord record;
  std::string block;                          // the printed text of a failure
  std::set<std::string> variantKernels = {};  // see CaseResult
};

/// The result of one job.
struct JobReports {
  std::vector<JobReport> reports;
  uint64_t dispatches = 0;
  uint64_t pipelines = 0;    // that the worker's Vulkan drivers made
  double makingSeconds = 0;  // of these pipelines

  std::string toText() const;
  static JobReports fromText(const std::string& text);
};

/// The unit of isolation: a group, an error case or the stored shapes of an operator on every backend, or, after a
/// crash, one case on one backend.
struct CheckUnit {
  size_t group = 0;
  std::optional<size_t> error;         // an error case instead of a group
  std::optional<size_t> shapes;        // stored shapes of an operator instead of a group
  std::optional<size_t> only;          // this case of the group alone
  std::optional<std::string> backend;  // this backend alone
  bool brief = false;                  // without the sub-checks of other modes and shapes (PreparedGroup)

  bool isGroup() const { return !error && !shapes; }
};

class CheckJob {
 public:
  /// Leaves out the cases that `expectations` skips, if given, and compares with `margins` in place of the build's. All
  /// arguments must outlive the job.
  CheckJob(const OpRegistry& registry, const Catalogue& catalogue, const BackendOptions& backends,
           const Expectations* expectations = nullptr, const RecordedMargins* margins = nullptr)
      : registry_(registry),
        catalogue_(catalogue),
        backends_(backends),
        expectations_(expectations),
        margins_(margins),
        coldCaches_(coldCacheGroups(catalogue)) {}

  /// Opens the backends at its first call. A backend that cannot be opened fails every unit.
  JobReports run(const CheckUnit& unit);

 private:
  JobReports runUnit(const CheckUnit& unit);
  Status open();
  ScriptOracle* script() { return script_ ? &*script_ : nullptr; }
  Status addSanitizer(const BackendLane& lane);
  /// The result of a case that an expectation file leaves out.
  std::optional<CaseResult> skipped(const Checker& checker, const Case& c, const std::string& id) const;
  CaseResult checkError(Checker& checker, const ErrorCase& error) const;
  CaseResult checkShapes(Checker& checker, const CaseGroup& group) const;
  std::vector<CaseResult> checkUnit(Checker& checker, const CheckUnit& unit, const CaseGroup& group,
                                    std::optional<PreparedGroup>& whole);
  std::vector<CaseResult> checkGroup(Checker& checker, const CheckUnit& unit, const CaseGroup& group,
                                     std::optional<PreparedGroup>& whole);
  void add(JobReports& job, const std::vector<CaseResult>& results) const;

  const OpRegistry& registry_;
  const Catalogue& catalogue_;
  const BackendOptions& backends_;
  const Expectations* expectations_;
  const RecordedMargins* margins_;
  std::set<size_t> coldCaches_;
  std::vector<Checker> checkers_;
  std::optional<ScriptOracle> script_;
};

/// Appends the units of a catalogue that are no groups.
void addSmallUnits(const Catalogue& catalogue, std::vector<CheckUnit>& units);

/// The case of a unit, of its group the first or the chosen one, and the id of its result.
std::pair<Case, std::string> caseOf(const CheckUnit& unit, const Catalogue& catalogue);

/// The command line that repeats a case.
std::string repeatCommand(const BackendOptions& backends, const std::string& backend, const std::string& id,
                          const std::string& op);

}  // namespace opkit::harness
