#include "harness/commands/check_time.h"

#include <algorithm>
#include <numeric>
#include <thread>

#include "engine/base/clock.h"
#include "engine/base/thread_pool.h"
#include "harness/cases/costs.h"
#include "harness/check/traced_cases.h"
#include "harness/run/isolated_jobs.h"

namespace opkit::harness {
namespace {

double steadySeconds() { return nowNs() * 1e-9; }

/// Processor seconds of this process, of its workers and of what they started and waited for.
double runSeconds() { return ownSeconds() + runningWorkersSeconds(); }

double coreSecondsOf(const CheckUnit& unit, const Catalogue& catalogue, const OpRegistry& registry,
                     const std::vector<std::string>& backends) {
  if (!unit.isGroup()) return 0;
  const std::vector<Case>& cases = catalogue.groups[unit.group].cases;
  const OpDef* const def = registry.find(cases.front().op);
  double seconds = 0;
  for (size_t i = 0; def && i < cases.size(); ++i) {
    if (unit.only && *unit.only != i) continue;
    seconds += kTraceSeconds * static_cast<double>(TracedCases::builtin().of(cases[i]).size());
    const CaseWork work = workOf(cases[i], *def);
    for (const std::string& backend : backends)
      if (!unit.backend || *unit.backend == backend)
        seconds += CaseCosts::builtin().seconds(def->type, work, backend) * (unit.brief ? kBriefShare : 1);
  }
  return seconds;
}

double coresFor(size_t jobs) {
  const double all = std::max(1u, std::thread::hardware_concurrency());
  return std::min({static_cast<double>(jobs), all, DayBudget::kCores});
}

}  // namespace

std::vector<double> estimatedCoreSeconds(const std::vector<CheckUnit>& units, const Catalogue& catalogue,
                                         const OpRegistry& registry, const std::vector<std::string>& backends) {
  std::vector<double> seconds(units.size());
  constexpr size_t kManyUnits = 500;  // fewer take less time than a thread takes to start
  ThreadPool(units.size() < kManyUnits ? 1 : 0, ThreadManner::Sleeps).parallelFor(units.size(), [&](size_t i, size_t) {
    seconds[i] = coreSecondsOf(units[i], catalogue, registry, backends);
  });
  return seconds;
}

void orderForFailures(std::vector<CheckUnit>& units, const Catalogue& catalogue, const OpRegistry& registry,
                      const std::vector<std::string>& backends) {
  constexpr double kSmall = 1;
  const std::vector<double> seconds = estimatedCoreSeconds(units, catalogue, registry, backends);
  std::vector<size_t> order(units.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(
      order, {}, [&](size_t i) { return seconds[i] < kSmall ? std::pair(0, seconds[i]) : std::pair(1, -seconds[i]); });
  std::vector<CheckUnit> ordered;
  for (const size_t i : order) ordered.push_back(units[i]);
  units = std::move(ordered);
}

CheckTime::CheckTime(const std::optional<DayBudget>& budget, size_t jobs)
    : budget_(budget), cores_(coresFor(jobs)), clock_(steadySeconds(), machineTimes(), runSeconds()) {
  times_.workers = jobs;
}

void CheckTime::look() { clock_.look(steadySeconds(), machineTimes(), runSeconds()); }

bool CheckTime::isCut() {
  if (!budget_) return false;
  constexpr double kPatience = 3, kPatienceWithCompiling = 15, kCompiling = 600, kMostStretch = 20, kBetweenLooks = 1;
  const double seconds =
      std::max(kPatience * budget_->seconds, std::min(kPatienceWithCompiling * budget_->seconds, kCompiling));
  const double most = seconds * DayBudget::kCores / std::min(static_cast<double>(times_.workers), DayBudget::kCores);
  const double unseen = clock_.secondsAt(steadySeconds()) - clock_.seconds();
  if (unseen >= kBetweenLooks || clock_.countedSeconds() + unseen > most) look();
  return clock_.countedSeconds() > most || clock_.seconds() > kMostStretch * most;
}

void CheckTime::beginCases() { times_.preparing = clock_.secondsAt(steadySeconds()); }

void CheckTime::addResult(const JobReports& job) {
  times_.pipelines += job.pipelines;
  times_.making += job.makingSeconds;
}

std::string CheckTime::toString() {
  look();
  times_.took = clock_.seconds();
  times_.othersShare = clock_.othersShare();
  times_.cores = cores_;
  if (!coreSeconds_) return fmt::format("took {:.0f} s", times_.took);
  times_.estimated = *coreSeconds_ / cores_ / DayBudget::kYield;
  return times_.toString();
}

}  // namespace opkit::harness
