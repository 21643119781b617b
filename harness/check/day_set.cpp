#include "harness/check/day_set.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "engine/base/thread_pool.h"
#include "harness/cases/accept.h"
#include "harness/cases/costs.h"
#include "harness/cases/features.h"
#include "harness/check/traced_cases.h"

namespace opkit::harness {
namespace {

constexpr size_t kTraceDays = 8;      // in which every traced case is checked, briefly at least
constexpr double kLeastShare = 0.05;  // of the groups that rotate, whatever the core and the draws take

enum Kind : size_t { Core, BriefCore, Drawn, Rotates };
struct GroupCost {
  Kind kind = Rotates;
  uint64_t hash = 0;
  double cases = 0;
  double seconds = 0;  // without traces
  double traceSeconds = 0;
  bool isEdited = false;  // of an edited operator, and written
  /// Whether it is in the set depends on the time that edited operators have.
  bool sharesTime() const { return isEdited && kind != Core; }
  double wholeSeconds() const { return seconds + traceSeconds; }
  double briefSeconds() const { return seconds * kBriefShare + traceSeconds; }
};

bool isDay(uint64_t hash, size_t days, uint64_t day) { return hash % days == day % days; }

GroupCost costOf(const CaseGroup& group, const OpRegistry& registry, const DayBudget& budget) {
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
  const size_t traces = TracedCases::builtin().tracesOf(group);
  cost.traceSeconds = kTraceSeconds * static_cast<double>(traces);
  if (group.cases.front().anyFallback)
    cost.kind = Drawn;
  else if (costs.isCore(cost.hash) || !costs.knows(group.cases.front().op))
    cost.kind = Core;
  else if (costs.isBriefCore(cost.hash))
    cost.kind = BriefCore;
  cost.isEdited = cost.kind != Drawn && budget.edited.contains(group.cases.front().op);
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
      if (cost.kind == Rotates && !cost.isEdited)
        seconds += cost.briefSeconds() / static_cast<double>(pace.daysOf(cost));
    (seconds > secondsOfDay ? fast : slow) = pace.scale;
  }
  return {slow};
}

/// The shares of the groups of edited operators that the set takes.
struct EditedShares {
  double whole = 1, brief = 1;  // the others' share
  double seconds = 0;

  /// True for `share` of the hashes, for others each day.
  static bool isPart(uint64_t hash, uint64_t day, double share) {
    constexpr double kGolden = 0.61803398875;
    const double place = std::ldexp(static_cast<double>(hash), -64) + kGolden * static_cast<double>(day);
    return place - std::floor(place) < share;
  }
};

/// All in whole if they take at most `room` seconds; else as many in whole as leave time for the others, briefly.
EditedShares sharesOf(double editedSeconds, double room) {
  if (editedSeconds <= room) return {.seconds = editedSeconds};
  const double part = room / editedSeconds;
  const double whole = std::max((part - kBriefShare) / (1 - kBriefShare), 0.0);
  return {.whole = whole, .brief = std::min(part / kBriefShare, 1.0), .seconds = room};
}

/// "Conv, Gemm, MatMul and 9 more"
std::string firstCaseOf(const std::set<std::string>& names) {
  constexpr size_t kMost = 4;
  const size_t shown = names.size() > kMost ? kMost - 1 : names.size();
  std::string text;
  for (auto it = names.begin(); it != std::next(names.begin(), static_cast<std::ptrdiff_t>(shown)); ++it)
    text += (text.empty() ? "" : ", ") + *it;
  return shown == names.size() ? text : fmt::format("{} and {} more", text, names.size() - shown);
}

}  // namespace

DaySet daySet(const Catalogue& catalogue, const OpRegistry& registry, const DayBudget& budget) {
  std::vector<GroupCost> costs(catalogue.groups.size());
  ThreadPool(0, ThreadManner::Sleeps).parallelFor(costs.size(), [&](size_t i, size_t) {
    costs[i] = costOf(catalogue.groups[i], registry, budget);
  });
  std::array<double, 4> all{};
  double allEdited = 0, allBrief = 0, allTraced = 0;
  for (const GroupCost& group : costs) (group.sharesTime() ? allEdited : all[group.kind]) += group.wholeSeconds();
  for (const GroupCost& group : costs)
    if (!group.sharesTime()) {
      if (group.kind == BriefCore) allBrief += group.briefSeconds();
      if (group.kind == Rotates && group.traceSeconds > 0) allTraced += group.briefSeconds();
    }
  DaySet set;
  const double most = budget.coreSeconds(), core = all[Core] + allBrief + allTraced / kTraceDays;
  set.coreDays = daysFor(core, most * DayBudget::kCoreShare);
  const double unspent = most - all[Drawn] - core / static_cast<double>(set.coreDays);
  const double room = std::max(unspent, 0.0) + budget.editedSeconds();
  const EditedShares edited = sharesOf(allEdited, room);
  const double left = std::max(std::min(unspent, room - edited.seconds), most * kLeastShare);
  set.days = daysFor(all[BriefCore] + all[Rotates], left * DayBudget::kWholeShare);
  const BriefPace pace = paceFor(costs, left * (1 - DayBudget::kWholeShare));
  const auto isWhole = [&](const GroupCost& cost) {
    if (cost.sharesTime()) return EditedShares::isPart(cost.hash, budget.day, edited.whole);
    const bool isToday = isDay(cost.hash, cost.kind == Core ? set.coreDays : set.days, budget.day);
    return cost.kind == Drawn || isToday;
  };
  const auto isBrief = [&](const GroupCost& cost) {
    if (cost.sharesTime() && EditedShares::isPart(cost.hash, budget.day, edited.brief)) return true;
    if (cost.traceSeconds > 0 && isDay(cost.hash, kTraceDays * set.coreDays, budget.day)) return true;
    if (cost.kind == BriefCore) return isDay(cost.hash, set.coreDays, budget.day);
    return cost.kind == Rotates && !cost.sharesTime() && isDay(cost.hash >> 24, pace.daysOf(cost), budget.day);
  };
  const auto add = [&](size_t g) {
    const GroupCost& cost = costs[g];
    const size_t written = cost.kind == Drawn ? 0 : catalogue.groups[g].cases.size();
    set.allCases += written;
    if (cost.isEdited) set.allEditedCases += written;
    if (isWhole(cost)) {
      set.groups.push_back(g);
      set.cases += written;
      if (cost.isEdited) set.editedCases += written;
      set.seconds += cost.wholeSeconds();
    } else if (isBrief(cost)) {
      set.brief.push_back(g);
      set.briefCases += written;
      set.seconds += cost.briefSeconds();
    }
  };
  std::vector<size_t> edits;
  for (size_t g = 0; g < costs.size(); ++g)
    if (costs[g].isEdited) edits.push_back(g);
  std::ranges::stable_sort(edits, {}, [&](size_t g) { return costs[g].seconds; });
  for (const size_t g : edits) add(g);
  for (const Kind kind : {Core, BriefCore, Drawn, Rotates})
    for (size_t g = 0; g < costs.size(); ++g)
      if (!costs[g].isEdited && costs[g].kind == kind) add(g);
  return set;
}

std::string DaySet::toString(const DayBudget& budget) const {
  const std::string edits = budget.edited.empty()
                                ? ""
                                : fmt::format("; edited: {}, {} of {} cases in whole", firstCaseOf(budget.edited),
                                              editedCases, allEditedCases);
  if (days == 1 && coreDays == 1)
    return fmt::format("all {} written cases fit the budget of {} s", allCases, budget.seconds);
  const auto share = [&](size_t part) { return 100.0 * static_cast<double>(part) / static_cast<double>(allCases); };
  return fmt::format(
      "day {}: {} of {} written cases in whole ({:.0f} %), {} briefly ({:.0f} %); all in whole within {} days; "
      "estimated {:.0f} s on {} cores{}",
      budget.day, cases, allCases, share(cases), briefCases, share(briefCases), days,
      seconds / DayBudget::kCores / DayBudget::kYield, DayBudget::kCores, edits);
}

}  // namespace opkit::harness
