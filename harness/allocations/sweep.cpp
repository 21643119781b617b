#include "harness/allocations/sweep.h"

#include <sys/mman.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <sstream>

#include "engine/base/check.h"
#include "harness/run/isolated_jobs.h"

namespace opkit::harness {
namespace {

constexpr size_t kWorkers = 2;
constexpr uint64_t kTrialsOfAJob = 20;
constexpr size_t kMostCrashes = 20;  // of a kind of request of a subject
constexpr double kTimeoutSeconds = 120;
constexpr size_t kKinds = std::size(kRefusedKinds);

struct Job {
  size_t subject;
  Refused::Kind kind;
  uint64_t first, last;  // requests; the last is not tried
};

/// Code of libraries in headers that leaves a block behind when it gets no memory.
constexpr const char* kLeakingPlaces[] = {"flatbuffers::Parser::Parser", "opkit::parseSchema < opkit::paramsFromJson"};

bool isExcused(const TrialResult& result, const std::string& place) {
  const auto begins = [&](const char* known) { return place.starts_with(known); };
  return result.leaked && std::ranges::any_of(kLeakingPlaces, begins);
}

/// What a worker knows of a subject.
struct Warm {
  Network network;
  std::vector<std::string> expected;
  uint64_t requests[kKinds];
};

/// The first trial fills tables, and those of a device grow where memory lies elsewhere than before. A leak comes
/// again.
TrialResult settled(const Network& network) {
  constexpr int kMostTrials = 4;
  TrialResult result = runUndisturbed(network);
  for (int trial = 1; trial < kMostTrials && (trial == 1 || result.leaked); ++trial) {
    const std::vector<std::string> before = std::move(result.values);
    result = runUndisturbed(network);
    if (result.fault.empty() && result.values != before) result.fault = "the next trial gave other values";
  }
  return result;
}

Result<const Warm*> warmed(const SweepSubject& subject) {
  static std::map<std::string, Warm> known;
  if (const auto found = known.find(subject.name); found != known.end()) return &found->second;
  Warm warm{subject.network(), {}, {}};
  TrialResult result = settled(warm.network);
  if (!result.fault.empty()) return Status::internal("undisturbed: {}", result.fault);
  warm.expected = std::move(result.values);
  std::ranges::copy(result.requests, warm.requests);
  return &(known[subject.name] = std::move(warm));
}

/// The request that a worker tries, for the case that it ends.
struct Attempt {
  uint64_t request;
  RefusedPlace place;
};

/// The attempts of all jobs, in memory that workers share with this process.
class Attempts {
 public:
  explicit Attempts(size_t jobs)
      : bytes_(std::max<size_t>(jobs, 1) * sizeof(Attempt)),
        memory_(::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) {
    OPKIT_CHECK(memory_ != MAP_FAILED);
  }
  ~Attempts() { ::munmap(memory_, bytes_); }
  Attempts(const Attempts&) = delete;
  Attempts& operator=(const Attempts&) = delete;
  Attempt& operator[](size_t job) const { return static_cast<Attempt*>(memory_)[job]; }

 private:
  size_t bytes_;
  void* memory_;
};

/// Answers with a line "requests refused tolerated", then a line per fault: number, place and text between tabs.
std::string runJob(const SweepSubject& subject, const Job& job, const SweepRange& range, Attempt& attempt) {
  keepPlaceIn(&attempt.place);
  const auto warm = warmed(subject);
  if (!warm) return fmt::format("0 0 0\n0\t\t{}\n", warm.error().message());
  SweepCount count{(*warm)->requests[static_cast<size_t>(job.kind)]};
  std::string faults;
  for (uint64_t n = job.first; n < std::min(job.last, count.requests); n += range.every) {
    attempt.request = n;
    attempt.place.count = 0;
    TrialResult result = runTrial((*warm)->network, {job.kind, n}, &(*warm)->expected);
    if (result.leaked) result = runTrial((*warm)->network, {job.kind, n}, &(*warm)->expected);
    const std::string place = result.fault.empty() ? "" : describe(attempt.place);
    if (!result.fault.empty() && !isExcused(result, place))
      faults += fmt::format("{}\t{}\t{}\n", n, place, result.fault);
    if (!result.reached) break;
    ++count.refused;
    count.tolerated += result.tolerated;
  }
  return fmt::format("{} {} {}\n{}", count.requests, count.refused, count.tolerated, faults);
}

class Sweep {
 public:
  Sweep(const std::vector<SweepSubject>& subjects, const SweepRange& range, double seconds)
      : subjects_(subjects), range_(range), seconds_(seconds), counts_(subjects.size()), crashes_(subjects.size()) {}

  Result<SweepResult> run() {
    std::vector<Job> jobs;
    for (uint64_t first = range_.offset; first < range_.below; first += kTrialsOfAJob * range_.every)
      for (size_t s = 0; s < subjects_.size(); ++s)
        for (const Refused::Kind kind : kRefusedKinds)
          jobs.push_back({s, kind, first, std::min(first + kTrialsOfAJob * range_.every, range_.below)});
    // Where there is not time for all, each offset begins elsewhere.
    std::rotate(jobs.begin(), jobs.begin() + static_cast<ptrdiff_t>(jobs.size() * range_.offset / range_.every),
                jobs.end());
    while (!jobs.empty() && !isOver()) OPKIT_TRY(runAll(std::exchange(jobs, {}), jobs));
    result_.cut = isOver();
    for (size_t s = 0; s < subjects_.size(); ++s) report(s);
    return std::move(result_);
  }

 private:
  using Clock = std::chrono::steady_clock;
  bool isOver() const {
    return seconds_ > 0 && std::chrono::duration<double>(Clock::now() - began_).count() > seconds_;
  }

  /// `again` gets what is left of the jobs whose worker ended.
  Status runAll(const std::vector<Job>& jobs, std::vector<Job>& again) {
    const Attempts attempts(jobs.size());
    for (size_t i = 0; i < jobs.size(); ++i) attempts[i].request = jobs[i].first;
    IsolationLimits limits;
    limits.workers = kWorkers;
    limits.timeoutSeconds = kTimeoutSeconds;
    limits.stop = [this] { return isOver(); };
    return runIsolated(
        jobs.size(), limits, [&](size_t i) { return runJob(subjects_[jobs[i].subject], jobs[i], range_, attempts[i]); },
        [&](size_t i, const JobOutcome& outcome) { take(jobs[i], outcome, attempts[i], again); });
  }

  void take(const Job& job, const JobOutcome& outcome, const Attempt& attempt, std::vector<Job>& again) {
    if (outcome.kind == JobOutcome::Kind::Answered) return takeAnswer(job, outcome.answer);
    const bool hangs = outcome.kind == JobOutcome::Kind::TimedOut;
    const uint64_t at = attempt.request;
    blame(job, at, hangs ? "it hangs" : fmt::format("the process ended: {}", outcome.answer), describe(attempt.place));
    SweepCount& count = counts_[job.subject][static_cast<size_t>(job.kind)];
    ++count.refused;
    count.requests = std::max(count.requests, at + 1);
    if (++crashes_[job.subject][static_cast<size_t>(job.kind)] < kMostCrashes && at + range_.every < job.last)
      again.push_back({job.subject, job.kind, at + range_.every, job.last});
  }

  void takeAnswer(const Job& job, const std::string& answer) {
    std::istringstream lines(answer);
    SweepCount count;
    lines >> count.requests >> count.refused >> count.tolerated;
    SweepCount& sum = counts_[job.subject][static_cast<size_t>(job.kind)];
    sum.requests = std::max(sum.requests, count.requests);
    sum.refused += count.refused;
    sum.tolerated += count.tolerated;
    std::string number, place, what;
    std::getline(lines, what);
    while (std::getline(lines, number, '\t') && std::getline(lines, place, '\t') && std::getline(lines, what))
      blame(job, std::strtoull(number.c_str(), nullptr, 10), what, place);
  }

  void blame(const Job& job, uint64_t at, const std::string& what, const std::string& place) {
    result_.faults.push_back({subjects_[job.subject].name, {job.kind, at}, what, place});
  }

  void report(size_t s) {
    std::string text;
    for (size_t kind = 0; kind < kKinds; ++kind) {
      const SweepCount& count = counts_[s][kind];
      text += fmt::format("{}{} {} of {}", text.empty() ? "" : ", ", nameOf(kRefusedKinds[kind]), count.refused,
                          count.requests);
      SweepCount& all = result_.counts[kind];
      all.requests += count.requests;
      all.refused += count.refused;
      all.tolerated += count.tolerated;
    }
    fmt::print("{}: {}\n", subjects_[s].name, text);
  }

  const std::vector<SweepSubject> subjects_;
  const SweepRange range_;
  const double seconds_;
  const Clock::time_point began_ = Clock::now();
  std::vector<std::array<SweepCount, kKinds>> counts_;
  std::vector<std::array<size_t, kKinds>> crashes_;
  SweepResult result_;
};

}  // namespace

SweepCount SweepResult::all() const {
  SweepCount sum;
  for (const SweepCount& count : counts) {
    sum.requests += count.requests;
    sum.refused += count.refused;
    sum.tolerated += count.tolerated;
  }
  return sum;
}

Result<SweepResult> sweep(const std::vector<SweepSubject>& subjects, const SweepRange& range, double seconds) {
  return Sweep(subjects, range, seconds).run();
}

}  // namespace opkit::harness
