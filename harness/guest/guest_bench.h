// benchGuestCase: the times of one case on a guest and on OpKit's backends, taken in turns. All get the same model, and
// the answers of each are checked before anything is timed.
//
//   load         from the bytes of the model to a session
//   resizeFirst  a session's first run with the shape of the case, after one of another shape, less a run that knows
//                the shape; absent if the group of the case has one shape, its shapes are no one model, or an answer
//                with the other shape is wrong
//   executeWall  a run that knows the shape, on the host's clock, with uploads and downloads
#pragma once

#include <string>
#include <vector>

#include "harness/bench/measure.h"
#include "harness/cases/case_file.h"
#include "harness/guest/bench_side.h"

namespace opkit::harness {

struct GuestBench {
  Guest& guest;
  std::string guestName;  // as GuestChoice::name()
  const std::vector<BenchBackend>& backends;
  const OpRegistry& registry;
  const OnnxRules& rules;
  MeasureOptions options;
};

/// Of group.cases[index]: results of the guest and of each backend, in this order, of kind "bench". A side that does
/// not take the model is Unsupported, with the reason; what askGuest() finds is the guest's result, and a backend's
/// wrong answer is Fail. None of these is timed, nor is the guest alone or a backend without it. Call it in a worker: a
/// guest may end the process.
std::vector<CaseResult> benchGuestCase(const CaseGroup& group, size_t index, const GuestBench& bench);

}  // namespace opkit::harness
