#include "reports/operator_facts.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "reports/report_data.h"

namespace opkit::reports {
namespace {

using Cases = std::vector<const CaseRecord*>;

struct OperatorCases {
  Cases checks;
  std::vector<Cases> timed;  // process runs of one case, backend and provider
};

BackendFacts backendFacts(const std::string& backend, const Cases& records) {
  BackendFacts facts;
  facts.backend = backend;
  std::set<std::string> kernels;
  for (const CaseRecord* record : records) {
    facts.tally.add(record->status);
    if (!record->provider.empty()) kernels.insert(kernelName(record->provider, record->kernel));
    if (!record->accuracy) continue;
    if (isWorse(record->accuracy->maxUlp, facts.ulp)) facts.ulp = record->accuracy->maxUlp;
    if (!isWorse(record->accuracy->margin, facts.margin)) continue;
    facts.margin = record->accuracy->margin;
    facts.worst = record->id;
  }
  facts.kernels.assign(kernels.begin(), kernels.end());
  return facts;
}

std::vector<BackendFacts> backendsOf(const Cases& checks) {
  std::map<std::string, Cases> byBackend;
  for (const CaseRecord* record : checks) byBackend[record->backend].push_back(record);
  std::vector<BackendFacts> all;
  for (const auto& [backend, records] : byBackend) all.push_back(backendFacts(backend, records));
  return all;
}

std::vector<NotRunFacts> notRunOf(const Cases& checks) {
  std::map<std::pair<std::string, std::string>, size_t> reasons;
  for (const CaseRecord* record : checks) {
    if (record->status == CaseStatus::Unsupported) ++reasons[{"refused on " + record->backend, record->reason}];
    if (record->status == CaseStatus::Skip) ++reasons[{"skipped on " + record->backend, record->reason}];
    for (const auto& [name, reason] : record->notRun) ++reasons[{name, reason}];
  }
  std::vector<NotRunFacts> sorted;
  for (const auto& [what, count] : reasons) sorted.push_back({count, what.first, what.second});
  std::ranges::stable_sort(sorted, std::greater(), &NotRunFacts::count);
  return sorted;
}

/// Null if the record lacks it.
const TimeRecord* findTime(const CaseRecord& record, const char* name) {
  const auto found = record.times.find(name);
  return found == record.times.end() ? nullptr : &found->second;
}

/// The execute time by the device's clock, else the host's.
const TimeRecord* executeTime(const CaseRecord& record) {
  const TimeRecord* device = findTime(record, "executeDevice");
  return device ? device : findTime(record, "executeWall");
}

double quantile(const std::vector<double>& sorted, double share) {
  const double at = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<size_t>(at);
  const size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (at - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

std::optional<Quartiles> quartilesOf(const TimeRecord* time) {
  std::vector<double> known;
  if (time) std::ranges::copy_if(time->samples, std::back_inserter(known), [](double v) { return std::isfinite(v); });
  if (known.empty()) return std::nullopt;
  std::ranges::sort(known);
  return Quartiles{quantile(known, 0.25), quantile(known, 0.5), quantile(known, 0.75)};
}

TimeFacts timeFacts(const Cases& runs, const TimeHistory* history) {
  const CaseRecord& middle = *middleRuns(runs).front();
  const auto median = [&](const char* name) {
    const TimeRecord* time = findTime(middle, name);
    return time ? time->median : NAN;
  };
  TimeFacts facts{middle.id,
                  middle.backend,
                  middle.provider,
                  middle.kernel,
                  middle.status,
                  middle.reason,
                  median("create"),
                  median("resizeCold"),
                  median("resizeWarm"),
                  median("executeWall"),
                  median("executeDevice"),
                  middle.flops.value_or(NAN),
                  middle.bytes.value_or(NAN),
                  middle.roofline > 0 ? middle.roofline : NAN,
                  {},
                  quartilesOf(executeTime(middle))};
  for (const CaseRecord* run : runs)
    if (const TimeRecord* time = executeTime(*run); time && time->min > 0) facts.runs.push_back(time->min);
  if (!history) return facts;
  const auto found = history->times.find({middle.id, middle.backend, middle.provider});
  if (found != history->times.end()) facts.history = &found->second;
  return facts;
}

std::map<std::string, OperatorCases> casesByOperator(const Results& results) {
  std::map<std::string, OperatorCases> operators;
  for (const CaseRecord* record : results.ofKind("check"))
    if (!record->op.empty()) operators[record->op].checks.push_back(record);
  std::map<TimeHistory::Key, size_t> places;
  for (const CaseRecord* record : results.ofKind("bench")) {
    if (record->op.empty()) continue;
    std::vector<Cases>& timed = operators[record->op].timed;
    const auto [place, isNew] = places.try_emplace({record->id, record->backend, record->provider}, timed.size());
    if (isNew) timed.emplace_back();
    timed[place->second].push_back(record);
  }
  return operators;
}

}  // namespace

std::string kernelName(const std::string& provider, const std::string& kernel) {
  return kernel.empty() ? provider : provider + "/" + kernel;
}

bool isWorse(double error, double than) { return !std::isnan(than) && !(error <= than); }

std::vector<OperatorFacts> operatorFacts(const Results& results, const TimeHistory* history) {
  std::vector<OperatorFacts> all;
  for (const auto& [name, cases] : casesByOperator(results)) {
    OperatorFacts facts{name, backendsOf(cases.checks), notRunOf(cases.checks), {}, 0};
    for (const Cases& runs : cases.timed) facts.times.push_back(timeFacts(runs, history));
    all.push_back(std::move(facts));
  }
  return all;
}

}  // namespace opkit::reports
