// RunClock: how long a run has taken, and which share of the machine's cores other processes took from it meanwhile.
#pragma once

#include "harness/run/processor_time.h"

namespace opkit::harness {

/// Readings come from the caller. Times are seconds of one steady clock; `own` are the processor seconds of the run.
class RunClock {
 public:
  RunClock(double now, const MachineTimes& machine, double own)
      : begun_(now), looked_(now), first_(machine), last_(machine), firstOwn_(own), lastOwn_(own) {}

  void look(double now, const MachineTimes& machine, double own);

  /// Until the last look.
  double seconds() const { return looked_ - begun_; }
  double secondsAt(double now) const { return now - begun_; }
  /// Seconds, each by the share of the cores that was the run's or free.
  double countedSeconds() const { return counted_; }
  /// From the beginning to the last look, from 0 to 1; what guests of the same host stole is others' too.
  double othersShare() const { return shareOf(first_, last_, firstOwn_, lastOwn_); }

 private:
  static double shareOf(const MachineTimes& from, const MachineTimes& to, double ownFrom, double ownTo);

  double begun_, looked_, counted_ = 0;
  MachineTimes first_, last_;
  double firstOwn_, lastOwn_;
};

/// The times of a run, in seconds.
struct RunTimes {
  double took = 0;
  double estimated = 0;
  double cores = 2;        // of the estimate
  double othersShare = 0;  // of the cores
  double preparing = 0;    // until the first case began
  double rerunning = 0;    // of groups that had failed
  uint64_t pipelines = 0;  // that Vulkan drivers made
  double making = 0;       // these pipelines, by the clock of each worker, together
  size_t workers = 1;

  /// "took 170 s, estimated 161 s on 2 cores". If it took more than twice as long, and 5 s more, also why: "...: other
  /// processes took 61 % of the cores".
  std::string toString() const;
};

}  // namespace opkit::harness
