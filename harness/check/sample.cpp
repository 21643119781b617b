#include "harness/check/sample.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "harness/cases/case_dtype.h"
#include "harness/cases/data.h"
#include "harness/check/op_model.h"
#include "harness/check/placement_check.h"

namespace opkit::harness {
namespace {

constexpr double kBestElements = 1024;
constexpr int64_t kMostElements = 65'536;

struct Candidate {
  CasePlace place;
  int64_t elements = 0;
  double rank = 0;  // lower is better
};

int64_t largestInput(const Case& c) {
  int64_t most = 0;
  for (const auto& input : c.inputs)
    if (input) most = std::max(most, input->elements());
  return most;
}

/// The cases of `op`, best first. Special values come last: they are compared by class.
std::vector<Candidate> candidatesOf(const std::string& op, const Catalogue& catalogue) {
  std::vector<Candidate> all;
  for (size_t g = 0; g < catalogue.groups.size(); ++g) {
    const std::vector<Case>& cases = catalogue.groups[g].cases;
    if (cases.front().op != op) continue;
    for (size_t i = 0; i < cases.size(); ++i) {
      const int64_t elements = largestInput(cases[i]);
      const double distance = std::abs(std::log2((static_cast<double>(elements) + 1) / kBestElements));
      all.push_back({{g, i}, elements, distance + (cases[i].lane == Lane::Specials ? 100 : 0)});
    }
  }
  std::ranges::stable_sort(all, {}, &Candidate::rank);
  return all;
}

/// The kernels that a case runs, as "operator provider/kernel"; empty if the backend refuses a part of it.
std::set<std::string> kernelsOf(const Case& c, const OpRegistry& registry, const std::string& backend,
                                const std::shared_ptr<Runtime>& runtime) {
  const auto placed = [&]() -> Result<std::vector<Placement>> {
    OPKIT_ASSIGN(const HostInputs inputs, makeInputs(c, *registry.find(c.op)));
    OPKIT_ASSIGN(const auto interpreter, makeOpInterpreter(c, registry, inputs));
    OPKIT_ASSIGN(const auto session, interpreter->createSession({.backend = backend}, runtime));
    OPKIT_TRY(feed(*session, c, inputs));
    return session->plannedPlacement();
  };
  const auto rows = placed();
  if (!rows) return {"fails: " + rows.error().message()};  // the check of the case says why
  std::set<std::string> kernels;
  for (const Placement& row : *rows) {
    if (row.fellBack) return {};
    if (row.type == "Copy" || row.type == "Convert") continue;
    kernels.insert(row.type + " " + (row.raster ? "raster" : row.provider) + "/" + row.kernel);
  }
  if (kernels.empty()) kernels.insert("folded");
  return kernels;
}

/// True if every own kernel of the operator on the backend is among `ran`.
bool isComplete(const std::string& op, const OpRegistry& registry, const std::string& backend,
                const std::set<std::string>& ran) {
  return kernelsThatNeverRan(registry, backend, *registry.find(op), ran).empty();
}

}  // namespace

std::vector<CasePlace> sampleOf(const std::string& op, const Catalogue& catalogue, const OpRegistry& registry,
                                const std::string& backend, const std::shared_ptr<Runtime>& runtime) {
  std::vector<CasePlace> chosen;
  std::set<std::string> seen, ran;
  for (const bool large : {false, true})
    for (const Candidate& candidate : candidatesOf(op, catalogue)) {
      if ((candidate.elements > kMostElements) != large) continue;
      if (large && isComplete(op, registry, backend, ran)) return chosen;
      const Case& c = catalogue.groups[candidate.place.group].cases[candidate.place.index];
      bool isNew = false, isNewKernel = false;
      for (const std::string& kernel : kernelsOf(c, registry, backend, runtime)) {
        isNewKernel |= seen.insert(kernel).second;
        isNew |= seen.insert(dtypeOf(c, registry.find(op)) + " " + kernel).second;
        if (kernel.starts_with(op + " ")) ran.insert(kernel.substr(op.size() + 1));
      }
      if (isNew) chosen.push_back({candidate.place.group, candidate.place.index, !isNewKernel});
    }
  return chosen;
}

}  // namespace opkit::harness
