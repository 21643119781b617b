#include "harness/check/sample.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "harness/cases/case_dtype.h"
#include "harness/cases/data.h"
#include "harness/check/kernel_rig.h"
#include "harness/check/op_model.h"
#include "harness/check/placement_check.h"
#include "harness/check/shader_log.h"
#include "harness/check/variants.h"
#include "reports/results/kernel_names.h"

namespace opkit::harness {
namespace {

constexpr double kBestElements = 1024;
constexpr int64_t kLargeCase = 65'536;

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

/// What a case runs, as far as planning shows.
struct Uses {
  std::set<std::string> kernels;  // as "operator provider/kernel"; empty if the backend refuses a part of the case
  std::set<std::string> shaders;
};

/// `log` is attached to the Runtime; planning asks for each shader, but makes no pipeline.
Uses usesOf(const Case& c, const OpRegistry& registry, const SessionConfig& config,
            const std::shared_ptr<Runtime>& runtime, ShaderLog* log) {
  if (log) log->clear();
  const auto placed = [&]() -> Result<std::vector<Placement>> {
    OPKIT_ASSIGN(const HostInputs inputs, makeInputs(c, *registry.find(c.op)));
    OPKIT_ASSIGN(const auto interpreter, makeOpInterpreter(c, registry, inputs));
    OPKIT_ASSIGN(const auto session, interpreter->createSession(config, runtime));
    OPKIT_TRY(feed(*session, c, inputs));
    return session->plannedPlacement();
  };
  const auto rows = placed();
  if (!rows) return {{"fails: " + rows.error().message()}, {}};  // the check of the case says why
  Uses uses;
  for (const Placement& row : *rows) {
    if (row.fellBack) return {};
    if (row.type == "Copy" || row.type == "Convert") continue;
    uses.kernels.insert(row.type + " " + (row.raster ? "raster" : kernelName(row.provider, row.kernel)));
  }
  if (uses.kernels.empty()) uses.kernels.insert("folded");
  if (log) uses.shaders = log->shaders();
  return uses;
}

/// The choice for one operator on one backend, while it grows.
class Sampler {
 public:
  Sampler(const std::string& op, const Catalogue& catalogue, const OpRegistry& registry, const std::string& backend,
          const std::shared_ptr<Runtime>& runtime)
      : op_(op),
        catalogue_(catalogue),
        registry_(registry),
        backend_(backend),
        runtime_(runtime),
        log_(ShaderLog::attach(*runtime)) {}

  std::vector<CasePlace> choose() {
    const std::vector<Candidate> candidates = candidatesOf(op_, catalogue_);
    for (const bool large : {false, true})
      for (const Candidate& candidate : candidates) {
        if ((candidate.elements > kLargeCase) != large) continue;
        if (large && isComplete()) break;
        add(candidate.place);
      }
    if (!isComplete()) addForOtherClasses(candidates);
    return chosen_;
  }

 private:
  const Case& caseAt(const CasePlace& place) const { return catalogue_.groups[place.group].cases[place.index]; }

  /// True if every own kernel of the operator on the backend runs.
  bool isComplete() const { return kernelsThatNeverRan(registry_, backend_, *registry_.find(op_), ran_).empty(); }

  void note(const std::string& kernel, const std::string& dtype) {
    if (kernel.starts_with(op_ + " ")) ran_.insert({kernel.substr(op_.size() + 1), dtype});
  }

  /// A shader once, in a whole case: the sanitizer traces no others.
  void add(const CasePlace& place) {
    const std::string dtype = dtypeOf(caseAt(place), registry_.find(op_));
    bool isNew = false, isWhole = false;
    const Uses uses = usesOf(caseAt(place), registry_, {.backend = backend_}, runtime_, log_.get());
    for (const std::string& kernel : uses.kernels) {
      isWhole |= seen_.insert(kernel).second;
      isNew |= seen_.insert(dtype + " " + kernel).second;
      note(kernel, dtype);
    }
    for (const std::string& shader : uses.shaders) isWhole |= shaders_.insert(shader).second;
    if (isNew || isWhole) chosen_.push_back({place.group, place.index, !isWhole});
  }

  /// The sub-check `variants` runs whole cases in the other classes: first those that are chosen, then one for each
  /// kernel that is still missing.
  void addForOtherClasses(const std::vector<Candidate>& candidates) {
    if (backend_ != "vulkan") return;
    DeviceVariants variants;
    const auto others = variants.variantsOf(registry_, runtime_);
    if (!others) return;
    const std::vector<CasePlace> whole = chosen_;
    for (const CasePlace& place : whole)
      if (!place.brief) noteVariants(place, *others);
    for (const Candidate& candidate : candidates) {
      if (isComplete()) return;
      const size_t before = kernelsThatNeverRan(registry_, backend_, *registry_.find(op_), ran_).size();
      noteVariants(candidate.place, *others);
      if (kernelsThatNeverRan(registry_, backend_, *registry_.find(op_), ran_).size() < before)
        addWhole(candidate.place);
    }
  }

  void addWhole(const CasePlace& place) {
    const auto same = [&](const CasePlace& one) { return one.group == place.group && one.index == place.index; };
    if (const auto found = std::ranges::find_if(chosen_, same); found != chosen_.end())
      found->brief = false;
    else
      chosen_.push_back(place);
  }

  void noteVariants(const CasePlace& place, const std::vector<DeviceVariants::Variant>& others) {
    for (const DeviceVariants::Variant& other : others)
      for (const std::string& kernel : usesOf(caseAt(place), registry_, other.config, other.runtime, nullptr).kernels)
        note(kernel, dtypeOf(caseAt(place), registry_.find(op_)));
    noteOnImages(place);
  }

  /// Kernels that a session of one node never chooses: they take only what another one left in an image. The sub-check
  /// `providers` runs them.
  void noteOnImages(const CasePlace& place) {
    const Case& c = caseAt(place);
    const auto inputs = makeInputs(c, *registry_.find(op_));
    for (const Creator& creator : kernelsThatNeverRan(registry_, backend_, *registry_.find(op_), ran_))
      if (creator.layout != Layout::NCHW && inputs &&
          KernelRig::create(c, *inputs, registry_, *runtime_, {.provider = creator.provider, .kernel = creator.kernel}))
        ran_.insert({kernelName(creator.provider, creator.kernel), dtypeOf(c, registry_.find(op_))});
  }

  const std::string& op_;
  const Catalogue& catalogue_;
  const OpRegistry& registry_;
  const std::string& backend_;
  const std::shared_ptr<Runtime>& runtime_;
  std::shared_ptr<ShaderLog> log_;  // shared with the Runtime; null if it has no shaders
  std::vector<CasePlace> chosen_;
  std::set<std::string> seen_, shaders_;
  std::set<KernelUse> ran_;
};

}  // namespace

std::vector<CasePlace> sampleOf(const std::string& op, const Catalogue& catalogue, const OpRegistry& registry,
                                const std::string& backend, const std::shared_ptr<Runtime>& runtime) {
  return Sampler(op, catalogue, registry, backend, runtime).choose();
}

std::set<std::string> plannedVariants(const Case& c, const OpRegistry& registry, const SessionConfig& config,
                                      const std::shared_ptr<Runtime>& runtime, ShaderLog& log) {
  const Uses uses = usesOf(c, registry, config, runtime, &log);
  return uses.shaders.empty() ? std::set<std::string>() : log.variants();
}

}  // namespace opkit::harness
