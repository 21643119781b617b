#include "harness/check/day_set.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "engine/base/thread_pool.h"
#include "harness/cases/accept.h"
#include "harness/cases/costs.h"
#include "harness/cases/features.h"

namespace opkit::harness {
namespace {

constexpr double kLeastShare = 0.05;  // of the groups that rotate, whatever the core and the draws take

enum Kind : size_t { Core, BriefCore, Drawn, Rotates };
struct GroupCost {
  Kind kind = Rotates;
  uint64_t hash = 0;
  double cases = 0;
  double seconds = 0;
  double briefSeconds() const { return seconds * kBriefShare; }
};

GroupCost costOf(const CaseGroup& group, const OpRegistry& registry) {
  const CaseCosts& costs = CaseCosts::builtin();
  const OpDef* const def = registry.find(group.cases.front().op);
  GroupCost cost{.hash = hashOf(group), .cases = static_cast<double>(group.cases.size())};
  for (const Case& c : group.cases) {
    if (!def) break;
    const CaseWork work = workOf(c, *def);
    for (const char* backend : {"cpu", "vulkan"}) {
      const double seconds = costs.seconds(c.op, work, backend);
      const bool isBrief = c.anyFallback && (seconds > kLongDraw || isDrawnPair(c));
      cost.seconds += isBrief ? seconds * kBriefShare : seconds;
    }
  }
  if (group.cases.front().anyFallback)
    cost.kind = Drawn;
  else if (costs.isCore(cost.hash) || !costs.knows(group.cases.front().op))
    cost.kind = Core;
  else if (costs.isBriefCore(cost.hash))
    cost.kind = BriefCore;
  return cost;
}

/// Days over which work is spread.
size_t daysFor(double seconds, double secondsOfDay) {
  return std::max<size_t>(static_cast<size_t>(std::ceil(seconds / secondsOfDay)), 1);
}

/// Days between two brief checks of a group.
struct BriefPace {
  double scale = 1;

  size_t daysOf(const GroupCost& cost) const { return daysFor(std::sqrt(cost.briefSeconds() / cost.cases), scale); }
};

/// The fastest pace that takes at most `secondsOfDay`.
BriefPace paceFor(const std::vector<GroupCost>& costs, double secondsOfDay) {
  constexpr int kHalvings = 40;
  double slow = 1e-6, fast = 1e3;
  for (int i = 0; i < kHalvings; ++i) {
    const BriefPace pace{std::sqrt(slow * fast)};
    double seconds = 0;
    for (const GroupCost& cost : costs)
      if (cost.kind == Rotates) seconds += cost.briefSeconds() / static_cast<double>(pace.daysOf(cost));
    (seconds > secondsOfDay ? fast : slow) = pace.scale;
  }
  return {slow};
}

bool isDay(uint64_t hash, size_t days, uint64_t day) { return hash % days == day % days; }

}  // namespace

DaySet daySet(const Catalogue& catalogue, const OpRegistry& registry, const DayBudget& budget) {
  std::vector<GroupCost> costs(catalogue.groups.size());
  ThreadPool(0, ThreadManner::Sleeps).parallelFor(costs.size(), [&](size_t i, size_t) {
    costs[i] = costOf(catalogue.groups[i], registry);
  });
  std::array<double, 4> all{};
  for (const GroupCost& group : costs) all[group.kind] += group.seconds;
  DaySet set;
  const double most = budget.coreSeconds(), core = all[Core] + all[BriefCore] * kBriefShare;
  set.coreDays = daysFor(core, most * DayBudget::kCoreShare);
  const double left = std::max(most - all[Drawn] - core / static_cast<double>(set.coreDays), most * kLeastShare);
  set.days = daysFor(all[BriefCore] + all[Rotates], left * DayBudget::kWholeShare);
  const BriefPace pace = paceFor(costs, left * (1 - DayBudget::kWholeShare));
  const auto isWhole = [&](const GroupCost& cost) {
    const bool isToday = isDay(cost.hash, cost.kind == Core ? set.coreDays : set.days, budget.day);
    return cost.kind == Drawn || isToday;
  };
  const auto isBrief = [&](const GroupCost& cost) {
    if (cost.kind == BriefCore) return isDay(cost.hash, set.coreDays, budget.day);
    return cost.kind == Rotates && isDay(cost.hash >> 24, pace.daysOf(cost), budget.day);
  };
  for (const Kind kind : {Core, BriefCore, Drawn, Rotates})
    for (size_t g = 0; g < costs.size(); ++g) {
      const GroupCost& cost = costs[g];
      if (cost.kind != kind) continue;
      const size_t written = kind == Drawn ? 0 : catalogue.groups[g].cases.size();
      set.allCases += written;
      if (isWhole(cost)) {
        set.groups.push_back(g);
        set.cases += written;
        set.seconds += cost.seconds;
      } else if (isBrief(cost)) {
        set.brief.push_back(g);
        set.briefCases += written;
        set.seconds += cost.briefSeconds();
      }
    }
  return set;
}

std::string DaySet::toString(const DayBudget& budget) const {
  if (days == 1 && coreDays == 1)
    return fmt::format("all {} written cases fit the budget of {} s", allCases, budget.seconds);
  const auto share = [&](size_t part) { return 100.0 * static_cast<double>(part) / static_cast<double>(allCases); };
  return fmt::format(
      "day {}: {} of {} written cases in whole ({:.0f} %), {} briefly ({:.0f} %); all in whole within {} days; "
      "estimated {:.0f} s on {} cores",
      budget.day, cases, allCases, share(cases), briefCases, share(briefCases), days,
      seconds / DayBudget::kCores / DayBudget::kYield, DayBudget::kCores);
}

}  // namespace opkit::harness
