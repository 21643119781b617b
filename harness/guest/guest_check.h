// The questions for a guest about one model: `op-harness check --ort`.
//
//   values    every output is within its bound; lanes of special values by class
//   inputs    no run changes an input
//   outputs   nothing is written around an output, and memory of the engine's own gets the same bits
//   repeat    a second run gives the same bits
//   resize    the session gives the same for a shape after it ran other shapes
//   batch     the first element of a batch alone is within its bounds
//   hidden    NaN and infinity in hidden elements change nothing beyond the bounds
//   leak      memory does not grow over 300 runs
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/export/exported_case.h"
#include "harness/guest/guest.h"
#include "harness/run/results.h"

namespace opkit::harness {

/// The questions in the order of this header's comment.
const std::vector<std::string>& guestQuestions();

/// Asks a session of `guest` about all data sets of its model: a result per set. `leak`: also that, of the first set.
///
/// A result is Fail, Refused if a run gave an error, Unstable or Leak; the reason names the question. Marks its work
/// for the report of a crash (noteWork).
std::vector<CaseResult> askGuest(Guest& guest, GuestSession& session, const ExportedModel& model,
                                 const OpRegistry& registry, bool leak);

}  // namespace opkit::harness
