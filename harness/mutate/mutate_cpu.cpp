#include <nlohmann/json.hpp>

#include "harness/check/check.h"
#include "harness/mutate/cpu_faults.h"
#include "harness/mutate/mutation_run.h"
#include "harness/run/isolated_jobs.h"

namespace opkit::harness {
namespace {

using Json = nlohmann::json;

/// Cases of one operator, ready for every fault: workers are forks and inherit them.
struct Subject {
  std::string op;
  std::vector<PreparedGroup> groups;
};

std::vector<Subject> subjectsOf(const Catalogue& catalogue, const OpRegistry& registry) {
  std::map<std::string, Subject> subjects;
  for (const CaseGroup& group : catalogue.groups) {
    const Case& first = group.cases.front();
    const OpDef* def = registry.find(first.op);
    if (!def || def->shapeOnly || first.fallback.contains("cpu")) continue;
    Subject& subject = subjects[first.op];
    subject.op = first.op;
    subject.groups.push_back(prepareGroup(group, registry));
  }
  std::vector<Subject> list;
  for (auto& [op, subject] : subjects) list.push_back(std::move(subject));
  return list;
}

std::string runFault(const Subject& subject, const std::string& fault, const OpRegistry& registry) {
  auto acted = std::make_shared<std::atomic<uint64_t>>(0);
  const OpRegistry broken = withFault(registry, subject.op, fault, acted);
  const auto runtime = createRuntime("cpu");
  if (!runtime) return Json{{"by", "session"}, {"acted", 1}}.dump();
  std::vector<const PreparedGroup*> groups;
  for (const PreparedGroup& group : subject.groups) groups.push_back(&group);
  const std::string by = firstFailure(groups, broken, "cpu", *runtime);
  return Json{{"by", by}, {"acted", acted->load()}}.dump();
}

}  // namespace

const char* nameOf(MutantResult::Fate fate) {
  constexpr const char* kNames[] = {"killed", "survived", "equivalent", "invalid"};
  return kNames[static_cast<size_t>(fate)];
}

std::string firstFailure(const std::vector<const PreparedGroup*>& groups, const OpRegistry& registry,
                         const std::string& backend, const std::shared_ptr<Runtime>& runtime) {
  Checker checker(registry, backend, runtime);
  for (const PreparedGroup* group : groups)
    for (const CaseResult& result : checker.checkGroup(*group)) {
      if (!isFailure(result.status) || result.status == CaseStatus::Mistrusted) continue;
      for (const SubCheck& sub : result.subChecks)
        if (!sub.ok) return sub.name + ": " + result.id;
      return std::string(nameOf(result.status)) + ": " + result.id;
    }
  return "";
}

Status mutateCpu(const Catalogue& catalogue, const OpRegistry& registry, const MutationOptions& options,
                 const std::function<void(const MutantResult&)>& done) {
  const std::vector<Subject> subjects = subjectsOf(catalogue, registry);
  const std::vector<CpuFault>& faults = cpuFaults();
  const IsolationLimits limits{.workers = options.jobs, .timeoutSeconds = options.timeoutSeconds};
  std::vector<std::optional<MutantResult>> finished(subjects.size() * faults.size());
  OPKIT_TRY(runIsolated(
      finished.size(), limits,
      [&](size_t i) { return runFault(subjects[i / faults.size()], faults[i % faults.size()].name, registry); },
      [&](size_t i, const JobOutcome& outcome) {
        MutantResult result;
        result.subject = subjects[i / faults.size()].op;
        result.backend = "cpu";
        result.where = faults[i % faults.size()].name;
        const Json answer = Json::parse(outcome.answer, nullptr, false);
        if (outcome.kind != JobOutcome::Kind::Answered || !answer.is_object()) {
          result.fate = MutantResult::Fate::Killed;
          result.by = outcome.kind == JobOutcome::Kind::TimedOut ? "hang" : "crash: " + outcome.answer;
        } else if (result.by = answer.value("by", ""); !result.by.empty()) {
          result.fate = MutantResult::Fate::Killed;
        } else if (answer.value("acted", uint64_t{0}) == 0) {
          result.fate = MutantResult::Fate::Invalid;
          result.by = "it spoils nothing here";
        }
        finished[i] = result;
      }));
  for (const auto& result : finished)
    if (result) done(*result);
  return Status::ok();
}

}  // namespace opkit::harness
