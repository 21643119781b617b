#include "harness/bench/turns.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>

#include "engine/base/clock.h"
#include "engine/base/interrupt.h"

namespace opkit::harness {
namespace {

using Subject = std::function<Result<double>()>;

constexpr size_t kLeastSamples = 3;
// Thread pools spin for about a millisecond after a run, and would take the cores of the next subject.
constexpr auto kRest = std::chrono::milliseconds(3);

/// How often a sample repeats a subject, and how many samples it can afford.
struct Effort {
  size_t repeats = 1;
  size_t samples = 1;
};

Result<Effort> effortOf(const MeasureOptions& options, const Subject& subject) {
  OPKIT_TRY(subject().error());  // warm-up
  const double start = nowNs();
  OPKIT_TRY(subject().error());
  const double oneNs = std::max(nowNs() - start, 1.0);  // with what the subject does not count
  const auto repeats = static_cast<size_t>(std::ceil(options.minSampleNs / oneNs));
  const auto affordable = static_cast<size_t>(options.maxSubjectNs / (oneNs * static_cast<double>(repeats)));
  return Effort{repeats, std::clamp(affordable, std::min(kLeastSamples, options.samples), options.samples)};
}

Result<double> sampleOf(const Subject& subject, size_t repeats) {
  std::this_thread::sleep_for(kRest);
  double sum = 0;
  for (size_t i = 0; i < repeats; ++i) {
    if (interrupted()) return Status::internal("interrupted");
    OPKIT_ASSIGN(const double elapsed, subject());
    sum += std::max(elapsed, 1.0);
  }
  return sum / static_cast<double>(repeats);
}

}  // namespace

Result<std::vector<Timing>> measureInTurns(const MeasureOptions& options, const std::vector<Subject>& subjects) {
  std::vector<Effort> efforts;
  size_t samples = options.samples;
  for (const Subject& subject : subjects) {
    OPKIT_ASSIGN(const Effort effort, effortOf(options, subject));
    efforts.push_back(effort);
    samples = std::min(samples, effort.samples);
  }
  std::vector<Timing> timings(subjects.size());
  for (size_t round = 0; round < samples; ++round)
    for (size_t turn = 0; turn < subjects.size(); ++turn) {
      const size_t i = round % 2 == 0 ? turn : subjects.size() - 1 - turn;
      OPKIT_ASSIGN(const double sample, sampleOf(subjects[i], efforts[i].repeats));
      timings[i].samples.push_back(sample);
    }
  return timings;
}

}  // namespace opkit::harness
