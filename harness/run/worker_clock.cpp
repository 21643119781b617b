#include "harness/run/worker_clock.h"

#include <algorithm>
#include <thread>

#include "engine/base/clock.h"

namespace opkit::harness {
namespace {

constexpr double kBetweenLooks = 1;
constexpr double kShortest = 0.05;  // between the looks of a job whose time is nearly up

double steadySeconds() { return nowNs() * 1e-9; }

/// Of the time in which any thread wanted a core, the share that threads had one; the rest of the time in full, but for
/// the driver's: the job waits for it.
double rateOf(const ThreadTimes& times, double seconds, double stolenShare) {
  const double wanted = times.ran + times.waited;
  if (wanted <= 0 || seconds <= 0) return 1;
  const double share = std::min(wanted / seconds, 1.0);
  return 1 - share + share * (times.ran / wanted) * (1 - stolenShare) * (1 - times.driver / wanted);
}

double coresOfMachine() { return std::max(1u, std::thread::hardware_concurrency()); }

}  // namespace

void WorkerClock::begin(double now, double limitSeconds) {
  begun_ = now;
  ownLimit_ = limit_ = limitSeconds;
  counted_ = ran_ = 0;
}

/// The look may cover earlier jobs too: this one gets its part of it.
void WorkerClock::look(double now, const ThreadTimes& since, double stolenShare) {
  const double all = now - looked_, own = now - std::max(looked_, begun_);
  if (all <= 0) return;
  counted_ += own * rateOf(since, all, stolenShare);
  const double wanted = since.ran + since.waited;
  const double driverShare = wanted > 0 ? since.driver / wanted : 0;
  ran_ += since.ran * (1 - driverShare) * own / all;
  looked_ = now;
}

bool WorkerClock::isOver(double now) const {
  return counted_ >= limit_ || ran_ >= limit_ * cores_ || now - begun_ >= kMostStretch * limit_;
}

double WorkerClock::due() const {
  const double soonest = std::max(looked_, begun_) + (limit_ - counted_);
  const double most = begun_ + kMostStretch * limit_;
  return std::min(looked_ > begun_ ? std::max(soonest, looked_ + kShortest) : soonest, most);
}

ProcessClock::ProcessClock(pid_t process)
    : process_(process),
      looked_(steadySeconds()),
      clock_(looked_, coresOfMachine()),
      threads_(threadTimesOf(process)),
      machine_(machineTimes()) {}

void ProcessClock::begin(double limitSeconds) { clock_.begin(steadySeconds(), limitSeconds); }

bool ProcessClock::isOver() {
  const double now = steadySeconds();
  if (now >= std::min(looked_ + kBetweenLooks, clock_.due())) look(now);
  return clock_.isOver(now);
}

double ProcessClock::patienceSeconds() const {
  return std::max(std::min(looked_ + kBetweenLooks, clock_.due()) - steadySeconds(), 0.0);
}

void ProcessClock::look(double now) {
  auto threads = threadTimesOf(process_);
  const MachineTimes machine = machineTimes();
  const double busy = machine.busy - machine_.busy, stolen = machine.stolen - machine_.stolen;
  clock_.look(now, timesBetween(threads_, threads), stolen > 0 ? stolen / (busy + stolen) : 0);
  threads_ = std::move(threads);
  machine_ = machine;
  looked_ = now;
}

}  // namespace opkit::harness
