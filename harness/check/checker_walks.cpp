// Checker: walks through the shapes of a group and back.
#include <map>
#include <utility>

#include "harness/cases/rng.h"
#include "harness/check/checker_parts.h"
#include "harness/check/constant_walk.h"
#include "harness/check/sibling_check.h"
#include "harness/check/walk.h"

namespace opkit::harness {
namespace {

/// Passes the failures at a variation on to the case. Two do not count: NMSE gates and special values judge data that a
/// case chose, and a variation did not.
void addFailures(const CaseResult& at, const std::string& where, CaseResult& owner) {
  const bool byElement = at.accuracy && at.accuracy->failed > 0;
  for (const SubCheck& sub : at.subChecks) {
    if (sub.ok || sub.name == "specials" || (sub.name == "accuracy" && !byElement)) continue;
    if (at.status == CaseStatus::Fail) owner.check(sub.name, Status::internal("{}: {}", where, sub.message));
    if (!owner.diagnosis.empty() || at.diagnosis.empty()) continue;
    owner.diagnosisKind = at.diagnosisKind;
    owner.diagnosis = at.diagnosis;
    owner.map = at.map;
  }
}

}  // namespace

/// The shapes of a walk.
struct Checker::Walk {
  std::vector<Stop> stops;
  std::vector<CaseResult*> owner;  // of each stop, receives its verdict
  std::vector<Fresh> further;      // of the stops that are no cases
};

/// Variations of the group's only case. The other sub-checks of a variation count too; a variation that the backend
/// refuses is left out.
void Checker::addFurtherStops(Interpreter& interpreter, const PreparedGroup& group, Walk& walk, CaseResult& owner) {
  walk.further.resize(group.stops.size());
  for (size_t i = 0; i < group.stops.size(); ++i) {
    CaseResult at = emptyResult(group.stops[i].description);
    checkFresh(interpreter, group.stops[i], at, walk.further[i]);
    addFailures(at, "at " + group.stops[i].description.inputText(), owner);
    if (!walk.further[i].ran || at.failed("canary")) continue;
    walk.stops.push_back({&group.stops[i], &walk.further[i].outputs});
    walk.owner.push_back(&owner);
  }
}

void Checker::checkWalks(Interpreter& interpreter, const PreparedGroup& group, const std::vector<Fresh>& fresh,
                         std::vector<CaseResult>& results) {
  Walk walk;
  for (size_t i = 0; i < fresh.size(); ++i) {
    if (!fresh[i].ran || results[i].failed("canary")) continue;
    walk.stops.push_back({&group.cases[i], &fresh[i].outputs});
    walk.owner.push_back(&results[i]);
  }
  if (walk.stops.empty()) return;
  const size_t cases = walk.stops.size();
  addFurtherStops(interpreter, group, walk, *walk.owner.front());
  walk.owner.front()->furtherStops = walk.stops.size() - cases;
  walk.owner.front()->stops = walk.stops.size();
  recordKernelWalk(walk, results);
  const auto session = interpreter.createSession(guarded(), runtime_);
  if (!session) return walk.owner.front()->check("resize", session.error());
  recordWalk("resize", walk, walkSession(**session, *registry_.find(group.cases.front().description.op), walk.stops));
}

/// The walk of one kernel, or why there is none.
void Checker::recordKernelWalk(const Walk& walk, std::vector<CaseResult>& results) {
  const auto verdicts = results.front().provider == "folded"
                            ? Result<std::vector<StopVerdict>>(Status::unsupported(kFolded))
                            : walkKernel(walk.stops, registry_, *runtime_);
  if (verdicts) return recordWalk("reuse", walk, *verdicts);
  for (CaseResult& result : results)
    if (verdicts.error().code() == StatusCode::Unsupported)
      skipAll(result, {"reuse"}, verdicts.error().message());
    else
      result.check("reuse", verdicts.error());
}

/// One case of a group walks: the others differ from it in shapes alone.
void Checker::checkConstants(const PreparedGroup& group, const std::vector<Fresh>& fresh,
                             std::vector<CaseResult>& results) {
  const OpDef& def = *registry_.find(group.cases.front().description.op);
  bool done = false;
  for (size_t i = 0; i < fresh.size(); ++i) {
    if (!fresh[i].ran) continue;
    if (!def.decompose && !def.toKernelForm)
      skipAll(results[i], {"constants"}, "the operator is not composite");
    else if (def.unordered)
      skipAll(results[i], {"constants"}, "its results have no order");
    else if (std::exchange(done, true))
      skipAll(results[i], {"constants"}, "another case of its group walks");
    else
      checkOrSkip(results[i], "constants", walkConstants(group.cases[i], registry_, backend_, runtime_));
  }
}

/// One case of a group has siblings: the others keep the same constants. On a device also in one of its variants,
/// another one for each case: kernels on images keep forms of their own.
void Checker::checkSiblingsOf(const PreparedGroup& group, const std::vector<Fresh>& fresh,
                              std::vector<CaseResult>& results) {
  bool done = false;
  for (size_t i = 0; i < fresh.size(); ++i) {
    if (!fresh[i].ran) continue;
    if (fresh[i].isOracle)
      skipAll(results[i], {"siblings"}, "the kernel is the oracle: it keeps no constants");
    else if (results[i].status == CaseStatus::Fail)
      skipAll(results[i], {"siblings"}, "the case fails alone");
    else if (done)
      skipAll(results[i], {"siblings"}, "another case of its group has siblings");
    else {
      const Status status = siblingsOf(group.cases[i], fresh[i]);
      done = status.code() != StatusCode::Unsupported;
      checkOrSkip(results[i], "siblings", status);
    }
  }
}

Status Checker::siblingsOf(const PreparedCase& c, const Fresh& fresh) {
  const VariantContext context{registry_, backend_, runtime_, c, fresh.outputs, fresh.alternatives};
  OPKIT_TRY(checkSiblings(context, {.backend = backend_}, runtime_));
  if (!deviceVariants_) return Status::ok();
  const std::vector<DeviceVariants::Variant> variants = deviceVariants_->allOf(runtime_);
  const DeviceVariants::Variant& chosen = variants[hashText(c.description.id()) % variants.size()];
  const Status status = checkSiblings(context, chosen.config, chosen.runtime);
  if (status.isByDevice() || status.code() == StatusCode::Unsupported) return Status::ok();
  return status.withContext(chosen.name);
}

/// Each case gets the first failure among its stops.
void Checker::recordWalk(const char* name, const Walk& walk, const std::vector<StopVerdict>& verdicts) {
  std::map<CaseResult*, Status> worst;
  std::map<CaseResult*, size_t> visits;
  for (size_t i = 0; i < verdicts.size(); ++i) {
    const StopVerdict& verdict = verdicts[i];
    Status& status = worst[walk.owner[i]];
    visits[walk.owner[i]] += verdict.visits;
    if (!status.isOk() || verdict.status.isOk()) continue;
    status = verdict.status;
    const OpDef& def = *registry_.find(walk.stops[i].at->description.op);
    explain(def, *walk.stops[i].at, 0, verdict.got, {.previous = &verdict.previous}, *walk.owner[i]);
  }
  for (const auto& [result, status] : worst)
    if (visits[result] == 0)
      skipAll(*result, {name}, "the walk's kernel does not take this shape; it runs on another one");
    else
      result->check(name, status);
}

}  // namespace opkit::harness
