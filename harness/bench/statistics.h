// Robust statistics for comparing two sets of timings, also with few samples.
#pragma once

#include <cstdint>
#include <vector>

namespace opkit::harness {

double medianOf(std::vector<double> values);

/// Two-sided p of the Mann-Whitney U test (normal approximation with correction for ties and continuity); 1 if either
/// side has fewer than 3 values.
double mannWhitney(const std::vector<double>& a, const std::vector<double>& b);

struct RatioInterval {
  double ratio = 1;          // median(b) / median(a)
  double low = 1, high = 1;  // 95 % bootstrap interval
};
/// Seeded: the same samples give the same interval.
RatioInterval medianRatio(const std::vector<double>& a, const std::vector<double>& b, uint64_t seed = 7);

enum class Change { Same, Faster, Slower };
/// Faster or slower only when p < 0.01 and the interval lies beyond `threshold` (0.02 is 2 %).
Change judge(double p, const RatioInterval& interval, double threshold);

}  // namespace opkit::harness
