#include "harness/cases/case_file.h"
#include "harness/run/build_facts.h"

namespace opkit::harness {
namespace {

bool contains(const std::vector<std::string>& list, const std::string& item) {
  return list.empty() || std::find(list.begin(), list.end(), item) != list.end();
}

/// The group that holds the case, with the case first; else a separate group.
Result<Catalogue> only(Catalogue catalogue, const std::string& id, const OpRegistry& registry) {
  OPKIT_ASSIGN(Case wanted, parseCaseId(id));
  if (!registry.find(wanted.op)) return Status::invalidArgument("case '{}': unknown operator '{}'", id, wanted.op);
  const std::string canonical = wanted.id();
  for (std::vector<CaseGroup>* groups : {&catalogue.groups, &catalogue.sized})
    for (CaseGroup& group : *groups)
      for (size_t i = 0; i < group.cases.size(); ++i)
        if (group.cases[i].id() == canonical) {
          std::rotate(group.cases.begin(), group.cases.begin() + static_cast<std::ptrdiff_t>(i), group.cases.end());
          return Catalogue{.groups = {std::move(group)}};
        }
  Catalogue own{.groups = {CaseGroup{{std::move(wanted)}}}};
  OPKIT_TRY(applyDepartures(catalogue.departures, false, own.groups));
  return own;
}

}  // namespace

Status checkOperators(const std::vector<std::string>& ops, const OpRegistry& registry) {
  for (const std::string& op : ops) {
    if (registry.find(op)) continue;
    if (*kBuildFacts.operators)
      return Status::invalidArgument("--op {}: not in this partial build for {}; `op-harness list` names what is in it",
                                     op, kBuildFacts.operators);
    return Status::invalidArgument("--op {}: no such operator; `op-harness list` names them all", op);
  }
  return Status::ok();
}

Result<Catalogue> applyFilter(Catalogue catalogue, const CaseFilter& filter, const OpRegistry& registry) {
  OPKIT_TRY(checkOperators(filter.ops, registry));
  if (filter.seed)
    for (CaseGroup& group : catalogue.groups)
      for (Case& c : group.cases) {
        for (auto& [provider, departure] : c.departures) departure.required &= c.seed == *filter.seed;
        c.seed = *filter.seed;
      }
  if (!filter.id.empty()) return only(std::move(catalogue), filter.id, registry);
  const auto matches = [&](const Case& c) {
    return contains(filter.ops, c.op) && (filter.text.empty() || c.id().find(filter.text) != std::string::npos ||
                                          c.name.find(filter.text) != std::string::npos);
  };
  Catalogue result;
  result.departures = catalogue.departures;
  const auto narrow = [&](std::vector<CaseGroup>& from, std::vector<CaseGroup>& to) {
    for (CaseGroup& group : from) {
      std::erase_if(group.cases, [&](const Case& c) { return !matches(c); });
      if (!group.cases.empty()) to.push_back(std::move(group));
    }
  };
  narrow(catalogue.groups, result.groups);
  narrow(catalogue.sized, result.sized);
  narrow(catalogue.shapes, result.shapes);
  for (ErrorCase& error : catalogue.errors)
    if (matches(error.asCase())) result.errors.push_back(std::move(error));
  return result;
}

}  // namespace opkit::harness
