#include "reports/detect/change_points.h"

#include <algorithm>
#include <cmath>

#include "reports/detect/student.h"

namespace opkit::reports::detect {
namespace {

// Of the nights before a change, at most this share may lie at or beyond the level after it: a series with two levels
// that come and go has not changed.
constexpr double kMostBeyond = 0.1;
// A segment shorter than this has a cautious level: a night counts as at most this many standard deviations further
// away than the nearest night.
constexpr size_t kShort = 8;
constexpr double kReach = 1;
// A change must exceed what the nights before did by themselves, over as many nights (at most 5), by this factor.
constexpr double kStandOut = 1.5;
constexpr size_t kLongestExcursion = 5;
// Machines have bad nights. However far away, two nights are no better evidence than this, nor three.
constexpr double kLeastPOfTwo = 9e-4, kLeastPOfThree = 1e-6;
constexpr double kNinetyPercent = 1.645;  // of a normal distribution lie within so many standard deviations

/// Share of values at or beyond `level`, seen from `from`.
double shareBeyond(std::span<const double> values, double from, double level) {
  const auto beyond = [&](double v) { return level > from ? v >= level : v <= level; };
  return static_cast<double>(std::count_if(values.begin(), values.end(), beyond)) / static_cast<double>(values.size());
}

/// Standard deviation of a night about its level: of winsorized residuals, or from their 90 % quantile if that is
/// larger. A series that has outliers on more than every tenth night is judged by these outliers.
double spreadOf(std::span<const double> leftRest, std::span<const double> rightRest) {
  double sum = 0;
  std::vector<double> sizes;
  for (const auto rest : {leftRest, rightRest}) {
    for (const double r : rest) sizes.push_back(std::fabs(r));
    for (const double r : winsorized(rest)) sum += r * r;
  }
  const size_t at = (sizes.size() - 1) * 9 / 10;
  std::nth_element(sizes.begin(), sizes.begin() + static_cast<std::ptrdiff_t>(at), sizes.end());
  return std::max(std::sqrt(sum / static_cast<double>(sizes.size() - 2)), sizes[at] / kNinetyPercent);
}

std::vector<double> residuals(std::span<const double> values, double level) {
  std::vector<double> rest;
  for (const double value : values) rest.push_back(value - level);
  return rest;
}

/// The largest distance from `level` that `count` successive values keep, in either direction.
double largestExcursion(std::span<const double> values, double level, size_t count, double reach) {
  double most = 0;
  for (size_t i = 0; i + count <= values.size(); ++i)
    most = std::max(most, std::fabs(cautiousLevel(values.subspan(i, count), level, reach) - level));
  return most;
}

double leastP(size_t nightsAfter, const SplitSettings& settings) {
  if (settings.leastNights < 2 || nightsAfter > 3) return 0;
  return nightsAfter == 3 ? kLeastPOfThree : kLeastPOfTwo;
}

void search(std::span<const double> values, size_t begin, size_t end, const SplitSettings& settings,
            std::vector<size_t>& found) {
  const size_t split = bestSplit(values.subspan(begin, end - begin), settings.leastNights);
  if (split == 0) return;
  const size_t index = begin + split;
  if (compareSegments(values, begin, index, end, settings).p >= settings.weakP) return;
  search(values, begin, index, settings, found);
  found.push_back(index);
  search(values, index, end, settings, found);
}

std::vector<ChangePoint> compareAll(std::span<const double> values, const std::vector<size_t>& indices,
                                    const SplitSettings& settings) {
  std::vector<ChangePoint> points;
  for (size_t i = 0; i < indices.size(); ++i)
    points.push_back(compareSegments(values, i > 0 ? indices[i - 1] : 0, indices[i],
                                     i + 1 < indices.size() ? indices[i + 1] : values.size(), settings));
  return points;
}

}  // namespace

ChangePoint compareSegments(std::span<const double> values, size_t begin, size_t index, size_t end,
                            const SplitSettings& settings) {
  const auto left = values.subspan(begin, index - begin), right = values.subspan(index, end - index);
  const size_t nights = left.size() + right.size();
  const double middleLeft = middleMean(left), middleRight = middleMean(right);
  ChangePoint point{.index = index, .begin = begin, .end = end, .before = middleLeft, .after = middleRight};
  if (nights < 3) return point;
  const std::vector<double> leftRest = residuals(left, middleLeft), rightRest = residuals(right, middleRight);
  const double spread = std::max(spreadOf(leftRest, rightRest), settings.noiseFloor);
  const double rho = autocorrelation(winsorized(left.size() >= right.size() ? leftRest : rightRest));
  if (left.size() < kShort) point.before = cautiousLevel(left, middleRight, kReach * spread);
  if (right.size() < kShort) point.after = cautiousLevel(right, middleLeft, kReach * spread);
  const double shift = middleRight > middleLeft ? point.after - point.before : point.before - point.after;
  if (shift <= 0 || shift < settings.leastSpreads * spread) return point;
  if (shareBeyond(left, point.before, point.after) > kMostBeyond) return point;
  const size_t length = std::min(right.size(), kLongestExcursion);
  if (shift < kStandOut * largestExcursion(left, point.before, length, kReach * spread)) return point;
  const double error = spread * std::sqrt(varianceOfMean(left.size(), rho) + varianceOfMean(right.size(), rho));
  point.p = std::max(studentTail(shift / error, static_cast<double>(nights - 2)), leastP(right.size(), settings));
  return point;
}

size_t bestSplit(std::span<const double> values, size_t leastNights) {
  const size_t n = values.size();
  if (n < 2 * leastNights || leastNights < 1) return 0;
  // Sums of |x_i - x_j| over pairs on the left, on the right and across, moved along value by value.
  std::vector<double> toEarlier(n), toLater(n);
  double right = 0;
  for (size_t i = 0; i < n; ++i)
    for (size_t j = 0; j < n; ++j) (j < i ? toEarlier : toLater)[i] += std::fabs(values[i] - values[j]);
  for (const double sum : toLater) right += sum;
  double left = 0, across = 0, bestQ = 0;
  size_t best = 0;
  for (size_t split = 1; split + leastNights <= n; ++split) {
    const size_t moved = split - 1;
    left += toEarlier[moved];
    right -= toLater[moved];
    across += toLater[moved] - toEarlier[moved];
    if (split < leastNights) continue;
    const auto a = static_cast<double>(split), b = static_cast<double>(n - split);
    const double within = (a > 1 ? left / (a * (a - 1) / 2) : 0) + (b > 1 ? right / (b * (b - 1) / 2) : 0);
    const double q = a * b / (a + b) * (2 * across / (a * b) - within);
    if (q > bestQ) bestQ = q, best = split;
  }
  return best;
}

std::vector<ChangePoint> changePoints(std::span<const double> values, const SplitSettings& settings) {
  std::vector<size_t> indices;
  search(values, 0, values.size(), settings, indices);
  std::vector<ChangePoint> points = compareAll(values, indices, settings);
  while (!points.empty()) {
    auto weakest =
        std::max_element(points.begin(), points.end(), [](const auto& a, const auto& b) { return a.p < b.p; });
    if (weakest->p < settings.strictP) {
      const auto effect = [](const ChangePoint& point) { return std::fabs(point.after - point.before); };
      weakest = std::min_element(points.begin(), points.end(),
                                 [&](const auto& a, const auto& b) { return effect(a) < effect(b); });
      if (effect(*weakest) >= settings.leastEffect) break;
    }
    indices.erase(indices.begin() + (weakest - points.begin()));
    points = compareAll(values, indices, settings);
  }
  return points;
}

}  // namespace opkit::reports::detect
