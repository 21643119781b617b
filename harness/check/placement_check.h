// Checks of a Session's own reports: where the node ran and the cost of the run. Parts of `check`.
#pragma once

#include <set>

#include "engine/runtime/session.h"
#include "harness/cases/case.h"
#include "harness/run/results.h"

namespace opkit::harness {

/// Fills provider and fallbacks. False if the case ends here: it fell back (status fallback), it was refused as
/// declared (unsupported, with the reason), or it was declared to be refused but ran (fail). A device needs no
/// declaration to refuse the case: because of a limit of loop iterations below Case::loops or, unless it `runsAll`
/// kernels, for another reason.
bool checkPlacement(const Session& session, const Case& c, const std::string& backend, bool runsAll,
                    CaseResult& result);

/// "opkit/image" that ran a case of "f32", as dtypeOf() names it; empty for a case without inputs.
struct KernelUse {
  std::string kernel, dtype;
  auto operator<=>(const KernelUse&) const = default;
};

/// Whether the case compares the oracle with itself. Fails the case if that is not declared, or declared and not so.
bool checkIndependence(const Case& c, const std::string& backend, CaseResult& result);

/// The Creators of `op` on `backend` by its own author (provider "opkit", or any for an operator of a plugin) that are
/// not in `ran`, for none of their dtypes.
std::vector<Creator> kernelsThatNeverRan(const OpRegistry& registry, const std::string& backend, const OpDef& op,
                                         const std::set<KernelUse>& ran);

/// OK if a run between the two readings created and allocated nothing, submitted at most once per segment and
/// dispatched something if the session has anything to do.
Status checkCounters(const Session& session, const BackendCounters& before, const BackendCounters& after);

/// OK if no Execution and no pipeline was created in between and, if the session still had the plan, no buffer
/// allocated.
Status checkNothingNew(const BackendCounters& before, const BackendCounters& after, bool planWasKept);

/// The device's limit of loop iterations if a kernel would have run without it and the device refuses no other for
/// another reason, else 0.
uint64_t loopLimitOf(const Placement& row);

/// The refusals of one row as one line.
std::string refusalText(const Placement& row);

}  // namespace opkit::harness
