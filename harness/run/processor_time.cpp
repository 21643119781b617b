#include "harness/run/processor_time.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "engine/base/thread_name.h"

namespace opkit::harness {
namespace {

std::string firstLineOf(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

double secondsOf(const timeval& time) { return static_cast<double>(time.tv_sec) + 1e-6 * time.tv_usec; }

}  // namespace

bool isDeviceThread(const std::string& name) { return name.starts_with("llvmpipe-"); }

std::optional<ThreadTimes> parseThreadTimes(const std::string& line) {
  std::istringstream words(line);
  double ranNs = 0, waitedNs = 0;
  if (!(words >> ranNs >> waitedNs)) return std::nullopt;
  return ThreadTimes{.ran = ranNs * 1e-9, .waited = waitedNs * 1e-9};
}

std::map<pid_t, ThreadTimes> threadTimesOf(pid_t process) {
  std::map<pid_t, ThreadTimes> threads;
  std::set<pid_t> others;
  bool isSoftware = false;
  std::error_code failed;
  std::filesystem::directory_iterator task("/proc/" + std::to_string(process) + "/task", failed);
  for (; !failed && task != std::filesystem::directory_iterator(); task.increment(failed)) {
    const std::string name = task->path().filename().string();
    pid_t id = 0;
    std::from_chars(name.data(), name.data() + name.size(), id);
    if (const auto times = parseThreadTimes(firstLineOf(task->path().string() + "/schedstat"))) threads[id] = *times;
    const std::string comm = firstLineOf(task->path().string() + "/comm");
    if (isDeviceThread(comm))
      isSoftware = true;
    else if (id != process && !comm.starts_with(kThreadNames))
      others.insert(id);
  }
  for (auto& [id, times] : threads)
    if (isSoftware && others.contains(id)) times.driver = times.ran + times.waited;
  return threads;
}

ThreadTimes timesBetween(const std::map<pid_t, ThreadTimes>& before, const std::map<pid_t, ThreadTimes>& after) {
  ThreadTimes sum;
  for (const auto& [id, times] : after) {
    const auto earlier = before.find(id);
    const ThreadTimes from = earlier == before.end() ? ThreadTimes{} : earlier->second;
    sum.ran += std::max(times.ran - from.ran, 0.0);
    sum.waited += std::max(times.waited - from.waited, 0.0);
    sum.driver += std::max(times.driver - from.driver, 0.0);
  }
  return sum;
}

std::optional<MachineTimes> parseMachineTimes(const std::string& line, double ticksPerSecond) {
  std::istringstream words(line);
  std::string cpu;
  double user = 0, nice = 0, system = 0, idle = 0, disk = 0, interrupts = 0, soft = 0, stolen = 0;
  if (!(words >> cpu >> user >> nice >> system >> idle >> disk >> interrupts >> soft >> stolen) || cpu != "cpu")
    return std::nullopt;
  return MachineTimes{(user + nice + system + interrupts + soft) / ticksPerSecond, (idle + disk) / ticksPerSecond,
                      stolen / ticksPerSecond};
}

MachineTimes machineTimes() {
  const auto ticks = static_cast<double>(sysconf(_SC_CLK_TCK));
  return parseMachineTimes(firstLineOf("/proc/stat"), ticks).value_or(MachineTimes{});
}

double ownSeconds() {
  double sum = 0;
  for (const int who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage usage = {};
    if (getrusage(who, &usage) == 0) sum += secondsOf(usage.ru_utime) + secondsOf(usage.ru_stime);
  }
  return sum;
}

double processSeconds(pid_t process) {
  clockid_t clock = 0;
  timespec time = {};
  if (clock_getcpuclockid(process, &clock) != 0 || clock_gettime(clock, &time) != 0) return 0;
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

}  // namespace opkit::harness
