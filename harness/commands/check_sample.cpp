#include "harness/commands/check_sample.h"

#include <map>
#include <set>
#include <sstream>
#include <tuple>

#include "harness/check/sample.h"

namespace opkit::harness {
namespace {

/// The numbers of the backends by group, index and briefness.
using SampledPlaces = std::map<std::tuple<size_t, size_t, bool>, std::set<size_t>>;

/// The work of one process: the sample of an operator as text, "BACKEND-NUMBER GROUP INDEX BRIEF" per case.
class SampleJob {
 public:
  SampleJob(const Catalogue& catalogue, const OpRegistry& registry, const BackendOptions& backends)
      : catalogue_(catalogue), registry_(registry), backends_(backends) {}

  std::string run(const std::string& op) {
    if (lanes_.empty()) {
      auto opened = openBackends(backends_);
      if (!opened) return "failed";  // the check itself says why
      lanes_ = *std::move(opened);
    }
    std::string text;
    for (size_t b = 0; b < lanes_.size(); ++b)
      for (const CasePlace& place : sampleOf(op, catalogue_, registry_, lanes_[b].name, lanes_[b].runtime))
        text += fmt::format("{} {} {} {:d}\n", b, place.group, place.index, place.brief);
    return text;
  }

 private:
  const Catalogue& catalogue_;
  const OpRegistry& registry_;
  const BackendOptions& backends_;
  std::vector<BackendLane> lanes_;
};

void addPlaces(const std::string& text, SampledPlaces& chosen) {
  std::istringstream in(text);
  size_t backend = 0, group = 0, index = 0;
  bool brief = false;
  while (in >> backend >> group >> index >> brief) chosen[{group, index, brief}].insert(backend);
}

void addWhole(const std::string& op, const Catalogue& catalogue, size_t backends, SampledPlaces& chosen) {
  for (size_t g = 0; g < catalogue.groups.size(); ++g)
    for (size_t i = 0; catalogue.groups[g].cases.front().op == op && i < catalogue.groups[g].cases.size(); ++i)
      for (size_t b = 0; b < backends; ++b) chosen[{g, i, false}].insert(b);
}

}  // namespace

Result<std::vector<CheckUnit>> sampleUnits(const Catalogue& catalogue, const OpRegistry& registry,
                                           const BackendOptions& backends, const IsolationLimits& limits) {
  std::vector<std::string> ops;
  std::set<std::string> seen;
  for (const CaseGroup& group : catalogue.groups)
    if (seen.insert(group.cases.front().op).second) ops.push_back(group.cases.front().op);
  const size_t count = backends.backends.size();
  SampledPlaces chosen;
  SampleJob job(catalogue, registry, backends);
  OPKIT_TRY(runIsolated(
      ops.size(), limits, [&](size_t i) { return job.run(ops[i]); },
      [&](size_t i, const JobOutcome& outcome) {
        if (outcome.kind == JobOutcome::Kind::Answered && outcome.answer != "failed")
          addPlaces(outcome.answer, chosen);
        else
          addWhole(ops[i], catalogue, count, chosen);
      }));
  std::vector<CheckUnit> units;
  for (const auto& [place, on] : chosen) {
    CheckUnit unit{.group = std::get<0>(place), .only = std::get<1>(place), .brief = std::get<2>(place)};
    if (on.size() == count) {
      units.push_back(unit);
      continue;
    }
    for (const size_t b : on) {
      unit.backend = backends.backends[b];
      units.push_back(unit);
    }
  }
  addSmallUnits(catalogue, units);
  return units;
}

}  // namespace opkit::harness
