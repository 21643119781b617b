// runIsolated: runs jobs in forked worker processes, so that a crash or a hang costs one job.
//
// Call it from a process with one thread and no open device: workers are forks and open their own. Jobs answer with a
// string.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>

#include "engine/base/status.h"

namespace opkit::harness {

struct JobOutcome {
  enum class Kind { Answered, Crashed, TimedOut };
  Kind kind = Kind::Answered;
  std::string answer;    // answer of the job; for a crash, the end of the worker ("signal 11") or the job's exception
  std::string where;     // if it did not answer: the last noteWork() of the job
  std::string activity;  // if it is late: activityOf() its worker
};

/// Why a job gave no answer: "no answer within 5 s, in Relu/f32[3]/normal/seed=7 on cpu: its own code runs", or "the
/// worker process ended with signal 11 (Segmentation fault)".
std::string lossText(const JobOutcome& outcome, double limitSeconds);
/// The same; of a crash it also says where.
std::string placedLossText(const JobOutcome& outcome, double limitSeconds);

struct IsolationLimits {
  size_t workers = 1;
  double timeoutSeconds = 300;           // of one job, by a WorkerClock: other processes do not use it up
  size_t memoryBytes = 0;                // limit of memory that a worker may add; 0 is unlimited
  size_t replaceBytes = 0;               // a worker that holds more than this after a job is replaced; 0: never
  std::function<bool()> stop = nullptr;  // true: no further job is handed out, running ones are ended
  std::function<double(size_t)> timeoutOf = nullptr;  // limits of a job, if they differ
};

/// Runs job(0) ... job(count - 1), `limits.workers` at a time; calls done(index, outcome) in this process as they
/// finish. An interrupt (engine/base/interrupt.h) stops it like `limits.stop`; the Status is OK then and some jobs were
/// not done. Workers end with this process, however it ends. Internal if the system refuses processes or channels.
Status runIsolated(size_t count, const IsolationLimits& limits, const std::function<std::string(size_t)>& job,
                   const std::function<void(size_t, const JobOutcome&)>& done);
Status runIsolated(size_t count, size_t workers, double timeoutSeconds, const std::function<std::string(size_t)>& job,
                   const std::function<void(size_t, const JobOutcome&)>& done);

/// Memory of a process that is in use; 0 if unknown.
size_t residentBytes(pid_t process);

/// Processor seconds of the workers that run now, of all calls of this process.
double runningWorkersSeconds();

}  // namespace opkit::harness
