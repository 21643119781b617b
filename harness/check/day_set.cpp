#include "harness/check/day_set.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "engine/base/thread_pool.h"
#include "harness/cases/accept.h"
#include "harness/cases/costs.h"

namespace opkit::harness {
namespace {

constexpr double kBriefShare = 0.2;   // of the time of a drawn case, if it is checked briefly
constexpr double kLeastShare = 0.05;  // of the groups that rotate, whatever the core and the draws take

enum Kind : size_t { Core, Drawn, Rotates };
struct GroupCost {
  Kind kind = Rotates;
  uint64_t hash = 0;
  double seconds = 0;
};

GroupCost costOf(const CaseGroup& group, const OpRegistry& registry) {
  const CaseCosts& costs = CaseCosts::builtin();
  const OpDef* const def = registry.find(group.cases.front().op);
  GroupCost cost{.hash = hashOf(group)};
  for (const Case& c : group.cases) {
    if (!def) break;
    const CaseWork work = workOf(c, *def);
    for (const char* backend : {"cpu", "vulkan"}) {
      const double seconds = costs.seconds(c.op, work, backend);
      cost.seconds += c.anyFallback && seconds > kLongDraw ? seconds * kBriefShare : seconds;
    }
  }
  if (group.cases.front().anyFallback)
    cost.kind = Drawn;
  else if (costs.isCore(cost.hash) || !costs.knows(group.cases.front().op))
    cost.kind = Core;
  return cost;
}

/// Days over which work is spread.
size_t daysFor(double seconds, double secondsOfDay) {
  return std::max<size_t>(static_cast<size_t>(std::ceil(seconds / secondsOfDay)), 1);
}

}  // namespace

DaySet daySet(const Catalogue& catalogue, const OpRegistry& registry, const DayBudget& budget) {
  std::vector<GroupCost> costs(catalogue.groups.size());
  ThreadPool(0, ThreadManner::Sleeps).parallelFor(costs.size(), [&](size_t i, size_t) {
    costs[i] = costOf(catalogue.groups[i], registry);
  });
  std::array<double, 3> all{};
  for (const GroupCost& group : costs) all[group.kind] += group.seconds;
  DaySet set;
  const double most = budget.coreSeconds();
  set.coreDays = daysFor(all[Core], most * DayBudget::kCoreShare);
  const double left = most - all[Drawn] - all[Core] / static_cast<double>(set.coreDays);
  set.days = daysFor(all[Rotates], std::max(left, most * kLeastShare));
  const std::array<size_t, 3> days = {set.coreDays, 1, set.days};
  for (const Kind kind : {Core, Drawn, Rotates})
    for (size_t g = 0; g < costs.size(); ++g) {
      if (costs[g].kind != kind) continue;
      const size_t written = kind == Drawn ? 0 : catalogue.groups[g].cases.size();
      set.allCases += written;
      if (costs[g].hash % days[kind] != budget.day % days[kind]) continue;
      set.groups.push_back(g);
      set.cases += written;
      set.seconds += costs[g].seconds;
    }
  return set;
}

std::string DaySet::toString(const DayBudget& budget) const {
  if (days == 1 && coreDays == 1)
    return fmt::format("all {} written cases fit the budget of {} s", allCases, budget.seconds);
  return fmt::format("day {}: {} of {} written cases ({:.0f} %), all within {} days; estimated {:.0f} s on {} cores",
                     budget.day, cases, allCases, 100.0 * static_cast<double>(cases) / static_cast<double>(allCases),
                     days, seconds / DayBudget::kCores / DayBudget::kYield, DayBudget::kCores);
}

}  // namespace opkit::harness
