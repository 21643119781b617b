#include "harness/run/run_clock.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

namespace opkit::harness {

void RunClock::look(double now, const MachineTimes& machine, double own) {
  counted_ += (now - looked_) * (1 - shareOf(last_, machine, lastOwn_, own));
  looked_ = now;
  last_ = machine;
  lastOwn_ = own;
}

double RunClock::shareOf(const MachineTimes& from, const MachineTimes& to, double ownFrom, double ownTo) {
  const double all = to.all() - from.all();
  if (all <= 0) return 0;
  const double used = all - (to.idle - from.idle);
  return std::clamp((used - (ownTo - ownFrom)) / all, 0.0, 1.0);
}

namespace {

std::string secondsText(double seconds) {
  return seconds < 10 ? fmt::format("{:.1f} s", seconds) : fmt::format("{:.0f} s", seconds);
}

/// The cost of a cause.
struct Cause {
  double seconds;
  std::string text;
};

std::vector<Cause> causesOf(const RunTimes& times) {
  std::vector<Cause> causes = {
      {times.took * times.othersShare,
       fmt::format("other processes took {:.0f} % of the cores", 100 * times.othersShare)},
      {times.making / static_cast<double>(times.workers),
       fmt::format("{} pipelines were compiled in {} of {} workers (a cold shader cache)", times.pipelines,
                   secondsText(times.making / static_cast<double>(times.workers)), times.workers)},
      {times.preparing, fmt::format("the first case began after {}", secondsText(times.preparing))},
      {times.rerunning, fmt::format("groups with failures ran again for {}", secondsText(times.rerunning))}};
  std::ranges::stable_sort(causes, std::greater(), &Cause::seconds);
  return causes;
}

}  // namespace

std::string RunTimes::toString() const {
  const std::string text = fmt::format("took {}, estimated {} on {:g} core{}", secondsText(took),
                                       secondsText(estimated), cores, cores == 1 ? "" : "s");
  constexpr double kLeastDelay = 5;  // seconds; below, starting a process decides
  if (took <= 2 * estimated || took < estimated + kLeastDelay) return text;
  constexpr double kLeastPart = 0.25;  // of the time beyond the estimate that a cause must explain
  std::vector<std::string> why;
  for (const Cause& cause : causesOf(*this))
    if (cause.seconds >= kLeastPart * (took - estimated)) why.push_back(cause.text);
  if (why.empty())
    why.push_back(fmt::format("neither other processes ({:.0f} % of the cores) nor compiled pipelines ({}) explain it",
                              100 * othersShare, secondsText(making / static_cast<double>(workers))));
  return fmt::format("{}: {}", text, fmt::join(why, "; "));
}

}  // namespace opkit::harness
