#include <chrono>
#include <nlohmann/json.hpp>

#include "engine/base/interrupt.h"
#include "engine/base/json_text.h"
#include "engine/op/takes_kernels.h"
#include "harness/mutate/cpu_faults.h"
#include "harness/mutate/hunt.h"
#include "harness/mutate/mutation_run.h"
#include "harness/run/isolated_jobs.h"

namespace opkit::harness {
namespace {

using Json = nlohmann::json;

constexpr double kSurveyTimeoutSeconds = 300;

class CpuMutation {
 public:
  CpuMutation(const Catalogue& catalogue, const OpRegistry& registry, const MutationOptions& options)
      : catalogue_(catalogue), registry_(registry), options_(options) {}

  Status run(const MutationEvents& events) {
    OPKIT_ASSIGN(marks_, EquivalentMarks::read(options_.source));
    OPKIT_TRY(findSubjects());
    if (interrupted()) return Status::ok();
    const std::vector<CpuFault>& faults = cpuFaults();
    std::vector<std::optional<MutantResult>> finished(subjects_.size() * faults.size());
    size_t next = 0;
    events.planned(finished.size());
    IsolationLimits limits{.workers = options_.jobs, .timeoutSeconds = options_.timeoutSeconds, .stop = events.stop};
    limits.timeoutOf = [&](size_t i) { return std::max(options_.timeoutSeconds, 5 * subjectOf(i).seconds); };
    Hunt hunt(catalogue_, registry_);
    OPKIT_TRY(runIsolated(
        finished.size(), limits, [&](size_t i) { return runFault(hunt, subjectOf(i), faults[i % faults.size()].name); },
        [&](size_t i, const JobOutcome& outcome) {
          finished[i] = resultOf(subjectOf(i).name, faults[i % faults.size()].name, outcome);
          for (; next < finished.size() && finished[next]; ++next) events.done(*finished[next]);
        }));
    reportRest(finished, next, events);
    return Status::ok();
  }

 private:
  Subject& subjectOf(size_t job) { return subjects_[job / cpuFaults().size()]; }

  /// Runs every group unbroken, and collects the groups by operator.
  Status findSubjects() {
    std::map<std::string, Subject> subjects;
    std::vector<size_t> used;
    for (size_t g = 0; g < catalogue_.groups.size(); ++g) {
      const Case& first = catalogue_.groups[g].cases.front();
      const OpDef* def = registry_.find(first.op);
      const bool isSubject = def && (def->lower || takesNoKernels(*def).empty());
      if (!isSubject || first.fallback.contains("cpu")) continue;
      subjects[first.op].name = first.op;
      subjects[first.op].groups.push_back(g);
      used.push_back(g);
    }
    std::vector<GroupFacts> facts(catalogue_.groups.size());
    Hunt hunt(catalogue_, registry_);
    OPKIT_TRY(runIsolated(
        used.size(), {.workers = options_.jobs, .timeoutSeconds = kSurveyTimeoutSeconds},
        [&](size_t i) { return surveyGroup(hunt, used[i]); },
        [&](size_t i, const JobOutcome& outcome) {
          const Json answer = parseJson(outcome.answer);
          GroupFacts& group = facts[used[i]];
          group.failure = answer.is_object() ? answer.value("failure", "") : "its worker ended: " + outcome.answer;
          if (answer.is_object()) group.seconds = answer.value("seconds", 0.0);
        }));
    if (interrupted()) return Status::ok();  // some groups have no facts
    for (auto& [op, subject] : subjects) {
      OPKIT_TRY(arrange(subject, facts));
      subjects_.push_back(std::move(subject));
    }
    return Status::ok();
  }

  std::string surveyGroup(Hunt& hunt, size_t group) const {
    const auto runtime = createRuntime("cpu");
    if (!runtime) return Json{{"failure", runtime.error().message()}}.dump();
    hunt.prepared(group);
    const auto start = std::chrono::steady_clock::now();
    std::vector<size_t> order = {group};
    const std::string failure = hunt.firstFailure(order, registry_, "cpu", *runtime);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    return Json{{"failure", failure}, {"seconds", took.count()}}.dump();
  }

  std::string runFault(Hunt& hunt, Subject& subject, const std::string& fault) const {
    auto acted = std::make_shared<std::atomic<uint64_t>>(0);
    const OpRegistry broken = withFault(registry_, subject.name, fault, acted);
    const auto runtime = createRuntime("cpu");
    if (!runtime) return Json{{"by", "session"}, {"acted", 1}}.dump();
    const std::string by = hunt.firstFailure(subject.groups, broken, "cpu", *runtime);
    return Json{{"by", by}, {"acted", acted->load()}}.dump();
  }

  MutantResult resultOf(const std::string& op, const std::string& fault, const JobOutcome& outcome) const {
    MutantResult result;
    result.subject = op;
    result.backend = "cpu";
    result.where = fault;
    const Json answer = parseJson(outcome.answer);
    if (outcome.kind != JobOutcome::Kind::Answered || !answer.is_object()) {
      result.fate = MutantResult::Fate::Killed;
      result.by = outcome.kind == JobOutcome::Kind::TimedOut ? "hang" : "crash: " + outcome.answer;
    } else if (result.by = answer.value("by", ""); !result.by.empty()) {
      result.fate = MutantResult::Fate::Killed;
    } else if (answer.value("acted", uint64_t{0}) == 0) {
      result.fate = MutantResult::Fate::Invalid;
      result.by = "it spoils nothing here";
    }
    applyMark(marks_, fault, result);
    return result;
  }

  const Catalogue& catalogue_;
  const OpRegistry& registry_;
  const MutationOptions& options_;
  EquivalentMarks marks_;
  std::vector<Subject> subjects_;
};

}  // namespace

const char* nameOf(MutantResult::Fate fate) {
  constexpr const char* kNames[] = {"killed", "survived", "equivalent", "invalid"};
  return kNames[static_cast<size_t>(fate)];
}

void reportRest(const std::vector<std::optional<MutantResult>>& finished, size_t next, const MutationEvents& events) {
  for (; next < finished.size(); ++next)
    if (finished[next]) events.done(*finished[next]);
}

void applyMark(const EquivalentMarks& marks, const std::string& change, MutantResult& result) {
  const std::string* reason = marks.reasonOf(result.subject, change);
  if (!reason) return;
  result.wrongMark = result.fate == MutantResult::Fate::Killed;
  if (result.fate != MutantResult::Fate::Survived) return;
  result.fate = MutantResult::Fate::Equivalent;
  result.by = *reason;
}

Status mutateCpu(const Catalogue& catalogue, const OpRegistry& registry, const MutationOptions& options,
                 const MutationEvents& events) {
  return CpuMutation(catalogue, registry, options).run(events);
}

}  // namespace opkit::harness
