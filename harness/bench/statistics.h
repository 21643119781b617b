// Robust statistics for comparing two sets of timings, also with few samples.
#pragma once

#include <cstdint>
#include <string>
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

enum class Change { NotShown, Equal, Faster, Slower };

/// The verdict on two sets of process runs.
struct Judgement {
  Change change = Change::NotShown;
  double within = 0;  // Equal: the interval lies within this share of 1
  size_t runs = 0;    // NotShown: about so many process runs a side would show one of the others
};
/// Faster or slower only when p < 0.01 and the interval lies beyond `threshold` (0.02 is 2 %); equal only when it lies
/// within. `runs` is the number of process runs of the smaller side; fewer than kLeastProcessRuns prove nothing.
Judgement judge(double p, const RatioInterval& interval, double threshold, size_t runs);
/// With 5 against 5, the Mann-Whitney test cannot reach p < 0.01.
inline constexpr size_t kLeastProcessRuns = 6;
/// Larger estimates of runs are cut to this number.
inline constexpr size_t kMostRuns = 1000;
/// "faster", "SLOWER", "equal within 0.9 %", "not shown: about 40 runs a side would".
std::string textOf(const Judgement& judgement);

}  // namespace opkit::harness
