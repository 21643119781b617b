#include "reports/detect/change_points.h"

#include <algorithm>
#include <cmath>

#include "reports/detect/student.h"

namespace opkit::reports::detect {
namespace {

// Splits of up to 50 nights that a search effectively tries; measured in docs/decisions/0038-detector.md.
constexpr double kSplitsTried = 8;
// Of the nights before a change, at most this share may lie at the level after it: a series with two levels that come
// and go has not changed.
constexpr double kMostBeyond = 0.05;

double sumOfSquares(std::span<const double> residuals) {
  double sum = 0;
  for (const double r : residuals) sum += r * r;
  return sum;
}

/// Share of values at or beyond `level`, seen from `from`.
double shareBeyond(std::span<const double> values, double from, double level) {
  const auto beyond = [&](double v) { return level > from ? v >= level : v <= level; };
  return static_cast<double>(std::count_if(values.begin(), values.end(), beyond)) / static_cast<double>(values.size());
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
  ChangePoint point{.index = index, .begin = begin, .end = end};
  point.before = middleMean(left);
  point.after = levelOf(right, point.before);
  const double shift = std::fabs(point.after - point.before);
  const size_t nights = left.size() + right.size();
  if (nights < 3 || shift == 0 || shareBeyond(left, point.before, point.after) > kMostBeyond) return point;
  const std::vector<double> leftRest = winsorizedResiduals(left, point.before),
                            rightRest = winsorizedResiduals(right, middleMean(right));
  const double rho = left.size() >= right.size() ? autocorrelation(leftRest) : autocorrelation(rightRest);
  const double variance =
      std::max((sumOfSquares(leftRest) + sumOfSquares(rightRest)) / static_cast<double>(nights - 2),
               settings.noiseFloor * settings.noiseFloor);
  const double error = std::sqrt(variance * (varianceOfMean(left.size(), rho) + varianceOfMean(right.size(), rho)));
  const double degrees = std::max(static_cast<double>(nights - 2) * (1 - rho) / (1 + rho), 1.0);
  point.p = std::min(1.0, kSplitsTried * studentTail(shift / error, degrees));
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
    auto weakest = std::max_element(points.begin(), points.end(), [](const auto& a, const auto& b) { return a.p < b.p; });
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
