// Processor time: what the threads of a process and the whole machine had of it, as the system counts it. Needs Linux's
// /proc; elsewhere everything is zero.
#pragma once

#include <sys/types.h>

#include <map>
#include <optional>
#include <string>

namespace opkit::harness {

/// Seconds of one thread, or of several together.
struct ThreadTimes {
  double ran = 0;     // on a core
  double waited = 0;  // for a core, with work to do
  double driver = 0;  // of these, of threads in which a software driver compiles and copies
};

/// True for the name of a thread in which a software device runs kernels.
bool isDeviceThread(const std::string& name);

/// The line of /proc/PID/task/TID/schedstat: nanoseconds on a core, nanoseconds of waiting, time slices.
std::optional<ThreadTimes> parseThreadTimes(const std::string& line);
/// Of the threads that run now, since they began, by their ids. Empty if the system does not tell. Threads of the
/// driver are those that bear neither a name of ours nor that of a device's core, in a process whose driver has such:
/// lavapipe names the threads that run kernels "llvmpipe-0" and so on, and compiles in a thread named as the process.
std::map<pid_t, ThreadTimes> threadTimesOf(pid_t process);
/// The times of the threads of `after` since `before`. Threads that ended meanwhile are left out.
ThreadTimes timesBetween(const std::map<pid_t, ThreadTimes>& before, const std::map<pid_t, ThreadTimes>& after);

/// Seconds of all cores together since the system began.
struct MachineTimes {
  double busy = 0;
  double idle = 0;
  double stolen = 0;  // by other guests of the host

  double all() const { return busy + idle + stolen; }
};

/// The first line of /proc/stat, whose numbers are ticks.
std::optional<MachineTimes> parseMachineTimes(const std::string& line, double ticksPerSecond);
MachineTimes machineTimes();

/// Processor seconds of this process and of those children that have ended.
double ownSeconds();
/// Processor seconds of another process; 0 if it has ended.
double processSeconds(pid_t process);

}  // namespace opkit::harness
