// Sweep: refuses the requests of networks one after the other, in worker processes, so that a crash costs one trial.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "harness/allocations/session_subject.h"

namespace opkit::harness {

/// Of the first `below` requests of each kind: number `offset`, and every `every`-th after it.
struct SweepRange {
  uint64_t below = 2000;
  uint64_t every = 1;
  uint64_t offset = 0;
};

/// A network on a backend. `networks` is called in a worker, once: it may open a device.
struct SweepSubject {
  std::string name;
  std::function<Network()> network;
};

struct SweepFault {
  std::string subject;
  Refused refused;
  std::string what, place;
};

struct SweepCount {
  uint64_t requests = 0;   // of networks, in a trial that refuses nothing
  uint64_t refused = 0;    // of them, one in each trial
  uint64_t tolerated = 0;  // and no step failed
};

struct SweepResult {
  SweepCount counts[std::size(kRefusedKinds)];
  std::vector<SweepFault> faults;
  bool cut = false;  // the time was over first
  SweepCount all() const;
};

/// Tries the subjects in two workers. Prints a line per subject. Ends after `seconds`, if that is not 0.
Result<SweepResult> sweep(const std::vector<SweepSubject>& subjects, const SweepRange& range, double seconds = 0);

}  // namespace opkit::harness
