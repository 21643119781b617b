// runIsolated: runs jobs in forked worker processes, so that a crash or a hang costs one job.
//
// Call it from a process with one thread and no open device: workers are forks and make their own. Jobs answer
// with a string.
#pragma once

#include <functional>
#include <string>

#include "engine/base/status.h"

namespace opkit::harness {

struct JobOutcome {
  enum class Kind { Answered, Crashed, TimedOut };
  Kind kind = Kind::Answered;
  std::string answer;  // of the job; for a crash, what ended the worker ("signal 11")
};

/// Runs job(0) ... job(count - 1), `workers` at a time, each within `timeoutSeconds`; calls done(index, outcome) in
/// this process as they finish. Internal when the system refuses processes or pipes.
Status runIsolated(size_t count, size_t workers, double timeoutSeconds, const std::function<std::string(size_t)>& job,
                   const std::function<void(size_t, const JobOutcome&)>& done);

}  // namespace opkit::harness
