#include "harness/bench/roof_probe.h"

#include <algorithm>
#include <barrier>
#include <functional>
#include <limits>
#include <thread>

#include "engine/base/clock.h"
#include "harness/bench/roof_loops.h"

namespace opkit::harness {
namespace {

constexpr int kRounds = 15;
constexpr double kRoundNs = 3e5;
constexpr int64_t kFmaSteps = 20000;
// Floats per array, of all threads together: from the first-level cache to main memory.
constexpr int64_t kFloats[] = {1 << 12, 1 << 14, 1 << 16, 1 << 18, 1 << 20, 1 << 21, 1 << 22, 1 << 24, 1 << 26};

/// The shortest time that `threads` threads take together for body(thread).
double bestNs(size_t threads, const std::function<void(size_t)>& body) {
  std::barrier meeting(static_cast<std::ptrdiff_t>(threads));
  double best = std::numeric_limits<double>::infinity();
  const auto work = [&](size_t thread) {
    for (int round = 0; round < kRounds; ++round) {
      meeting.arrive_and_wait();
      const double start = nowNs();
      body(thread);
      meeting.arrive_and_wait();
      if (thread == 0) best = std::min(best, nowNs() - start);
    }
  };
  std::vector<std::jthread> others;
  for (size_t thread = 1; thread < threads; ++thread) others.emplace_back(work, thread);
  work(0);
  return best;
}

double flopsPerNs(size_t threads) {
  std::vector<float> results(threads);  // kept, so that no call is left out
  const double ns = bestNs(threads, [&](size_t thread) { results[thread] = multiplyAdds(kFmaSteps); });
  return static_cast<double>(threads * kFmaSteps * kFlopsPerStep) / ns;
}

/// The better of a copy and a sum, each thread on a part of the arrays.
DevicePeaks::Bandwidth bandwidthOf(int64_t floats, size_t threads) {
  const int64_t part = std::max<int64_t>(floats / static_cast<int64_t>(threads), 1);
  const auto count = static_cast<size_t>(part) * threads;
  std::vector<float> a(count, 1.0f), b(count, 2.0f), c(count, 3.0f);
  const double bytes = static_cast<double>(count) * sizeof(float);
  const auto repeats = static_cast<int64_t>(std::max(kRoundNs * 20 / bytes, 1.0));
  DevicePeaks::Bandwidth found{2 * bytes, 0};
  for (const bool sums : {false, true}) {
    const double ns = bestNs(threads, [&](size_t thread) {
      const size_t first = thread * static_cast<size_t>(part);
      for (int64_t i = 0; i < repeats; ++i)
        sums ? streamSum(&a[first], &b[first], &c[first], part) : streamCopy(&a[first], &c[first], part);
    });
    found.bytesPerNs = std::max(found.bytesPerNs, (sums ? 3 : 2) * bytes * static_cast<double>(repeats) / ns);
  }
  return found;
}

}  // namespace

DevicePeaks probeRoof(size_t threads) {
  DevicePeaks peaks;
  peaks.flopsPerNs = flopsPerNs(threads);
  for (const int64_t floats : kFloats) peaks.bandwidths.push_back(bandwidthOf(floats, threads));
  // The rate must not grow with the size: waiting for the threads hides the true rate of small arrays.
  for (size_t i = peaks.bandwidths.size(); i-- > 1;)
    peaks.bandwidths[i - 1].bytesPerNs = std::max(peaks.bandwidths[i - 1].bytesPerNs, peaks.bandwidths[i].bytesPerNs);
  return peaks;
}

}  // namespace opkit::harness
