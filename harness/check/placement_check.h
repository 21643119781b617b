// What a Session says about itself: where the node ran and what running cost. Parts of `check`.
#pragma once

#include "engine/runtime/session.h"
#include "harness/cases/case.h"
#include "harness/run/results.h"

namespace opkit::harness {

/// Fills provider and fallbacks. False when the case ends here: it fell back (status fallback), it was declared
/// to be refused and was (unsupported, with the reason), or it was declared and ran after all (fail). What the device's
/// limit of loop iterations alone refuses is declared by that, unless the case says that it needs no more
/// (Case::loops).
bool checkPlacement(const Session& session, const Case& c, const std::string& backend, CaseResult& result);

/// OK when a run between the two readings created and allocated nothing, submitted at most once per segment and
/// dispatched something if the session has anything to do.
Status checkCounters(const Session& session, const BackendCounters& before, const BackendCounters& after);

/// OK when no Execution and no pipeline was created in between.
Status checkNothingNew(const BackendCounters& before, const BackendCounters& after);

/// The device's limit of loop iterations when a kernel would have run without it, else 0.
uint64_t loopLimitOf(const Placement& row);

/// The refusals of one row as one line.
std::string refusalText(const Placement& row);

}  // namespace opkit::harness
