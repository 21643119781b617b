#include "harness/commands/chosen_groups.h"

#include <algorithm>
#include <map>
#include <set>

#include "harness/commands/check_sample.h"
#include "harness/commands/day_cases.h"

namespace opkit::harness {
namespace {

constexpr size_t kFewGroups = 6, kFewCases = 2;

/// The sample of backend cpu; its cases of one group stay together.
Result<std::vector<CaseGroup>> sampledGroups(const Catalogue& catalogue, const OpRegistry& registry,
                                             const IsolationLimits& limits) {
  BackendOptions backend;
  backend.backends = {"cpu"};
  OPKIT_ASSIGN(const std::vector<CheckUnit> units, sampleUnits(catalogue, registry, backend, limits));
  std::map<size_t, std::set<size_t>> chosen;
  for (const CheckUnit& unit : units)
    if (unit.isGroup()) chosen[unit.group].insert(unit.only.value_or(0));
  std::vector<CaseGroup> groups;
  for (const auto& [group, indices] : chosen) {
    groups.emplace_back();
    for (const size_t i : indices) groups.back().cases.push_back(catalogue.groups[group].cases[i]);
  }
  return groups;
}

/// Of each operator the first group of each dtype and lane, and others up to kFewGroups; of each group kFewCases.
std::vector<CaseGroup> fewGroups(const Catalogue& catalogue) {
  struct Taken {
    std::set<std::pair<int, Lane>> kinds;
    size_t groups = 0;
  };
  std::map<std::string, Taken> taken;
  std::set<size_t> chosen;
  for (const bool isNew : {true, false})
    for (size_t i = 0; i < catalogue.groups.size(); ++i) {
      const Case& first = catalogue.groups[i].cases.front();
      Taken& of = taken[first.op];
      if (of.groups >= kFewGroups || chosen.contains(i)) continue;
      const int dtype = first.inputs.empty() || !first.inputs[0] ? 0 : static_cast<int>(first.inputs[0]->dtype);
      if (!of.kinds.emplace(dtype, first.lane).second && isNew) continue;
      chosen.insert(i);
      ++of.groups;
    }
  std::vector<CaseGroup> groups;
  for (const size_t i : chosen) {
    groups.push_back(catalogue.groups[i]);
    groups.back().cases.resize(std::min(groups.back().cases.size(), kFewCases));
  }
  return groups;
}

std::vector<CaseGroup> groupsOfDay(Catalogue& catalogue, const OpRegistry& registry, const DayBudget& budget) {
  const DaySet day = daySet(catalogue, registry, budget);
  std::vector<CaseGroup> groups;
  for (const std::vector<size_t>* chosen : {&day.groups, &day.brief})
    for (const size_t group : *chosen) groups.push_back(std::move(catalogue.groups[group]));
  std::erase_if(groups, [](const CaseGroup& group) { return group.cases.empty(); });  // a group of both
  return groups;
}

}  // namespace

void GroupChoice::add(CLI::App& command) {
  cases.add(command);
  command.add_flag("--written", written, "With --sample or --budget: take no drawn cases");
  CLI::Option* const isSample =
      command.add_flag("--sample", sample, "Take a few cases of each operator, as `check --sample --backend cpu` does");
  command.add_option("--budget", budget, "Take the cases that `check --budget` takes today")
      ->check(cli::seconds())
      ->excludes(isSample);
}

Result<std::vector<CaseGroup>> GroupChoice::groups(const OpRegistry& registry, const IsolationLimits& limits) const {
  CaseOptions asked = cases;
  asked.reach = (sample || !budget.empty()) && !written;
  std::optional<DayBudget> ofDay;
  if (!budget.empty()) ofDay = dayBudget(budget, day, registry);
  OPKIT_ASSIGN(Catalogue catalogue, loadCasesOf(asked, ofDay, registry));
  std::vector<CaseGroup> groups;
  if (!cases.id.empty()) {
    groups = {{{catalogue.groups.at(0).cases.front()}}};
  } else if (sample) {
    OPKIT_ASSIGN(groups, sampledGroups(catalogue, registry, limits));
  } else if (few) {
    groups = fewGroups(catalogue);
  } else if (ofDay) {
    groups = groupsOfDay(catalogue, registry, *ofDay);
  } else {
    groups = std::move(catalogue.groups);
  }
  dropRepeated(groups);
  shard.keepMine(groups);
  return groups;
}

void dropRepeated(std::vector<CaseGroup>& groups) {
  std::set<std::string> seen;
  for (CaseGroup& group : groups)
    std::erase_if(group.cases, [&](const Case& c) { return !seen.insert(c.id()).second; });
  std::erase_if(groups, [](const CaseGroup& group) { return group.cases.empty(); });
}

}  // namespace opkit::harness
