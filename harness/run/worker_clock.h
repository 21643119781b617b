// WorkerClock: how much of its time a job has used, counted so that other processes cannot make it late.
//
// It runs as the clock on the wall does, but for times in which threads of the worker wanted a core and had none. Those
// count by the share that they got: one thread of nine on a core brings its clock forward by a ninth. A worker that
// sleeps, in a deadlock or for a device, wants no core, and its time counts in full. While a software driver compiles,
// the clock stands still: a first run, without the driver's cache, compiles ten times longer than it computes. So a
// limit is never stricter than by the wall, and on a quiet machine with a warm cache the same.
#pragma once

#include "harness/run/processor_time.h"

namespace opkit::harness {

/// The rules alone: readings come from the caller. Times are seconds of one steady clock.
class WorkerClock {
 public:
  /// No clock is more patient than this many times its limit by the wall.
  static constexpr double kMostStretch = 20;

  /// A worker that began at `now`, on a machine of `cores`.
  WorkerClock(double now, double cores) : looked_(now), cores_(cores) {}

  /// Its next job begins.
  void begin(double now, double limitSeconds);
  /// The job has so many seconds beside the limit of begin().
  void allow(double moreSeconds) { limit_ = ownLimit_ + moreSeconds; }
  /// Takes the times of the worker's threads since the last look, and the share of its busy time that the machine lost
  /// to other guests of its host.
  void look(double now, const ThreadTimes& since, double stolenShare = 0);

  /// True if the job has used up its limit, or all cores for so long, as of the last look; or kMostStretch limits.
  bool isOver(double now) const;
  /// Before this time a look cannot find that it is over.
  double due() const;
  double countedSeconds() const { return counted_; }

 private:
  double looked_;
  double cores_;
  double begun_ = 0, ownLimit_ = 0, limit_ = 0;
  double counted_ = 0;  // since the job began
  double ran_ = 0;      // on all cores together, since the job began
};

/// The clock of a running process. Looks once a second and when the time may be up.
class ProcessClock {
 public:
  /// Of no process, until another one takes its place.
  ProcessClock() : clock_(0, 1) {}
  explicit ProcessClock(pid_t process);

  void begin(double limitSeconds);
  void allow(double moreSeconds) { clock_.allow(moreSeconds); }
  bool isOver();
  /// Until isOver() may have another answer; at most a second.
  double patienceSeconds() const;

 private:
  void look(double now);

  pid_t process_ = -1;
  double looked_ = 0;
  WorkerClock clock_;
  std::map<pid_t, ThreadTimes> threads_;
  MachineTimes machine_;
};

}  // namespace opkit::harness
