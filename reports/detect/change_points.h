// Change points of one series: E-divisive (Matteson and James, "A Nonparametric Approach for Multiple Change Point
// Analysis of Multivariate Data", 2014) with a t-test in place of permutations and weak points that are merged, as in
// "Hunter" (Fleming and others, ICPE 2023). Deterministic. Thread-safe.
//
// Differences from Hunter, because machines have outlier nights and drift: levels and spread are robust, the variance
// of a mean accounts for autocorrelation, and a change must be large beside the spread and beside what the series did
// before. As in Hunter p is not corrected for the choice of the split; evaluate_detector measures the false alarms.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace opkit::reports::detect {

struct SplitSettings {
  size_t leastNights = 2;    // of a segment; one night alone is an outlier
  double weakP = 1e-2;       // of points that the search may pass through
  double strictP = 1e-3;     // of points that stay
  double leastEffect = 0;    // of points that stay, on the scale of the values
  double leastSpreads = 0;   // of a change: its size in standard deviations of a night
  double noiseFloor = 1e-6;  // standard deviation below which no series is believed to be
};

struct ChangePoint {
  size_t index = 0;              // of the first value after the change
  size_t begin = 0, end = 0;     // the values compared are [begin, index) and [index, end)
  double before = 0, after = 0;  // levels
  double p = 1;                  // two-sided
};

/// Compares [begin, index) with [index, end).
ChangePoint compareSegments(std::span<const double> values, size_t begin, size_t index, size_t end,
                            const SplitSettings& settings);

/// The split of `values` with the largest scaled energy distance Q (exponent 1), each side at least `leastNights` long;
/// 0 if there is none. Costs O(n^2).
size_t bestSplit(std::span<const double> values, size_t leastNights);

/// Change points in order. Costs O(n^2) per point found: pass a window, not years.
std::vector<ChangePoint> changePoints(std::span<const double> values, const SplitSettings& settings);

}  // namespace opkit::reports::detect
