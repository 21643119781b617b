// `op-harness bench --ort`.
#pragma once

#include "harness/bench/bench.h"
#include "harness/commands/commands.h"
#include "harness/guest/guest.h"

namespace opkit::harness {

struct GuestBenchArguments {
  const GuestChoice& guest;
  const BackendOptions& backend;
  const MeasureOptions& measure;
  double timeoutSeconds;  // of a case
  const std::string& json;
  uint64_t seed;
  std::string part;  // of a sharded run
  const OpRegistry& registry;
  const std::vector<ChosenCase>& chosen;
};

/// Times the cases on a guest beside OpKit's backends. The exit code: 1 if an answer is wrong or a side ends the
/// worker, 3 if nothing was timed.
Result<int> benchGuest(const GuestBenchArguments& options, const std::string& commandLine);

}  // namespace opkit::harness
