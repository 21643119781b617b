// A Chrome trace of runs: one event per command and run, inside an event for the run. Opens in chrome://tracing and
// in Perfetto.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "engine/runtime/session.h"

namespace opkit {

/// One profiled run.
struct TracedRun {
  double durationNs = 0;
  std::vector<Placement> placement;
};

/// The document. Commands timed by the host are placed at their start time. Commands timed by a device are placed end
/// to end on a track of the device, since devices report durations only. Runs follow each other without the gaps
/// between them.
nlohmann::json chromeTrace(const std::vector<TracedRun>& runs);

}  // namespace opkit
