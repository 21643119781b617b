#include "reports/operator_views.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "reports/history/store.h"
#include "reports/report_data.h"
#include "reports/sparkline.h"
#include "reports/tally.h"

namespace opkit::reports {
namespace {

using kainjow::mustache::data;
using kainjow::mustache::list;
using kainjow::mustache::object;

constexpr size_t kReasonsShown = 4;

struct OperatorRecords {
  std::vector<const CaseRecord*> checks, timed;
};

double medianOf(const CaseRecord& record, const char* name) {
  const auto found = record.times.find(name);
  return found == record.times.end() ? NAN : found->second.median;
}

std::string cell(double ns) { return std::isnan(ns) ? "" : formatNs(ns); }

/// The row of one backend: endings, the worst error and the kernels.
object backendRow(const std::string& backend, const std::vector<const CaseRecord*>& records) {
  Tally tally;
  std::set<std::string> kernels;
  double margin = 0, ulp = 0;
  std::string worst;
  for (const CaseRecord* record : records) {
    tally.add(record->status);
    if (!record->provider.empty())
      kernels.insert(record->kernel.empty() ? record->provider : record->provider + "/" + record->kernel);
    if (!record->accuracy) continue;
    ulp = std::max(ulp, record->accuracy->maxUlp);
    if (record->accuracy->margin > margin) margin = record->accuracy->margin, worst = record->id;
  }
  return {{"backend", backend},
          {"sum", tally.sum()},
          {"bad", data(tally.count(Ending::Failed) > 0)},
          {"kernels", fmt::format("{}", fmt::join(kernels, ", "))},
          {"margin", margin > 0 ? formatPercent(margin) : ""},
          {"ulp", ulp > 0 ? formatNumber(ulp) : ""},
          {"worst", worst}};
}

data backendsOf(const std::vector<const CaseRecord*>& checks) {
  std::map<std::string, std::vector<const CaseRecord*>> byBackend;
  for (const CaseRecord* record : checks) byBackend[record->backend].push_back(record);
  list rows;
  for (const auto& [backend, records] : byBackend) rows.push_back(backendRow(backend, records));
  return rows;
}

/// Sub-checks that did not run, and refusals, each reason once with its number of cases.
data notRunOf(const std::vector<const CaseRecord*>& checks) {
  std::map<std::pair<std::string, std::string>, size_t> reasons;
  for (const CaseRecord* record : checks) {
    if (record->status == CaseStatus::Unsupported) ++reasons[{"refused on " + record->backend, record->reason}];
    for (const auto& [name, reason] : record->notRun) ++reasons[{name, reason}];
  }
  std::vector<std::pair<size_t, std::pair<std::string, std::string>>> sorted;
  for (const auto& [what, count] : reasons) sorted.emplace_back(count, what);
  std::ranges::stable_sort(sorted, std::greater(), &std::pair<size_t, std::pair<std::string, std::string>>::first);
  list rows;
  for (size_t i = 0; i < std::min(sorted.size(), kReasonsShown); ++i)
    rows.push_back(object{{"count", std::to_string(sorted[i].first)},
                          {"what", sorted[i].second.first},
                          {"reason", sorted[i].second.second}});
  if (sorted.size() > kReasonsShown)
    rows.push_back(object{
        {"count", ""}, {"what", ""}, {"reason", fmt::format("and {} more reasons", sorted.size() - kReasonsShown)}});
  return rows;
}

object timeRow(const CaseRecord& record, const TimeHistory* history) {
  const double wall = medianOf(record, "executeWall"), device = medianOf(record, "executeDevice");
  const double flops = record.flops.value_or(0), bytes = record.bytes.value_or(0);
  std::string line;
  if (history) {
    const auto found = history->nights.find({record.id, record.backend, record.provider});
    if (found != history->nights.end()) line = sparkline(found->second);
  }
  return {{"id", record.id},
          {"backend", record.backend},
          {"provider", record.kernel.empty() ? record.provider : record.provider + "/" + record.kernel},
          {"status", nameOf(record.status)},
          {"create", cell(medianOf(record, "create"))},
          {"cold", cell(medianOf(record, "resizeCold"))},
          {"warm", cell(medianOf(record, "resizeWarm"))},
          {"wall", cell(wall)},
          {"device", cell(device)},
          {"gflops", wall > 0 && flops > 0 ? formatNumber(flops / wall) : ""},
          {"gbs", wall > 0 && bytes > 0 ? formatNumber(bytes / wall) : ""},
          {"roofline", record.roofline > 0 ? formatPercent(record.roofline) : ""},
          {"nights", line}};
}

}  // namespace

Result<TimeHistory> readTimeHistory(const std::string& path) {
  OPKIT_ASSIGN(const Store store, Store::open(path, Database::Mode::Read));
  OPKIT_ASSIGN(const std::vector<Night> nights, store.nights());
  std::vector<Environment> environments;
  OPKIT_ASSIGN(const std::vector<Series> all,
               store.series({.kind = "bench", .metrics = {"executeDevice", "executeWall"}}, environments));
  TimeHistory history;
  for (const char* metric : {"executeDevice", "executeWall"})  // the device's clock first
    for (const Series& one : all) {
      if (one.key.metric != metric || !one.key.options.empty()) continue;
      const auto [found, isNew] =
          history.nights.try_emplace({one.key.caseId, one.key.backend, one.key.provider}, nights.size(), NAN);
      if (!isNew) continue;
      for (const Point& point : one.points) found->second[point.night] = std::ranges::min(one.at(point));
    }
  return history;
}

data operatorViews(const Results& results, const TimeHistory* history) {
  std::map<std::string, OperatorRecords> operators;
  for (const CaseRecord* record : results.ofKind("check"))
    if (!record->op.empty()) operators[record->op].checks.push_back(record);
  for (const CaseRecord* record : middleRuns(results.ofKind("bench")))
    if (!record->op.empty()) operators[record->op].timed.push_back(record);
  list views;
  for (const auto& [name, records] : operators) {
    list times;
    for (const CaseRecord* record : records.timed) times.push_back(timeRow(*record, history));
    const bool hasTimes = !times.empty(), hasChecks = !records.checks.empty();
    views.push_back(object{{"name", name},
                           {"checked", data(hasChecks)},
                           {"backends", backendsOf(records.checks)},
                           {"notRun", notRunOf(records.checks)},
                           {"timed", data(hasTimes)},
                           {"times", data(times)}});
  }
  const bool any = !views.empty();
  return object{{"any", data(any)}, {"rows", data(views)}};
}

}  // namespace opkit::reports
