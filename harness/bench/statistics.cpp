#include "harness/bench/statistics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "harness/cases/rng.h"

namespace opkit::harness {
namespace {

constexpr size_t kResamples = 2000;
constexpr size_t kLeastForStatistics = 3;

double resampledMedian(const std::vector<double>& values, Rng& rng) {
  std::vector<double> drawn;
  drawn.reserve(values.size());
  for (size_t i = 0; i < values.size(); ++i) drawn.push_back(values[rng.next() % values.size()]);
  return medianOf(std::move(drawn));
}

}  // namespace

double medianOf(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

double mannWhitney(const std::vector<double>& a, const std::vector<double>& b) {
  if (a.size() < kLeastForStatistics || b.size() < kLeastForStatistics) return 1;
  std::vector<std::pair<double, bool>> all;  // value, of a
  for (const double v : a) all.emplace_back(v, true);
  for (const double v : b) all.emplace_back(v, false);
  std::sort(all.begin(), all.end());
  const auto n = static_cast<double>(all.size()), na = static_cast<double>(a.size()),
             nb = static_cast<double>(b.size());
  double rankSum = 0, ties = 0;
  for (size_t i = 0; i < all.size();) {
    size_t end = i;
    while (end < all.size() && all[end].first == all[i].first) ++end;
    const double rank = (static_cast<double>(i + 1) + static_cast<double>(end)) / 2,
                 equal = static_cast<double>(end - i);
    for (; i < end; ++i) rankSum += all[i].second ? rank : 0;
    ties += equal * equal * equal - equal;
  }
  const double u = rankSum - na * (na + 1) / 2, mean = na * nb / 2;
  const double variance = na * nb / 12 * (n + 1 - ties / (n * (n - 1)));
  if (variance <= 0) return 1;
  const double z = std::max(std::fabs(u - mean) - 0.5, 0.0) / std::sqrt(variance);
  return std::erfc(z / std::sqrt(2.0));
}

RatioInterval medianRatio(const std::vector<double>& a, const std::vector<double>& b, uint64_t seed) {
  RatioInterval interval;
  if (a.empty() || b.empty() || medianOf(a) <= 0) return interval;
  interval.ratio = medianOf(b) / medianOf(a);
  Rng rng(seed);
  std::vector<double> ratios;
  for (size_t i = 0; i < kResamples; ++i) {
    const double base = resampledMedian(a, rng);
    ratios.push_back(resampledMedian(b, rng) / base);
  }
  std::sort(ratios.begin(), ratios.end());
  interval.low = ratios[kResamples * 25 / 1000];
  interval.high = ratios[kResamples * 975 / 1000 - 1];
  return interval;
}

Judgement judge(double p, const RatioInterval& interval, double threshold, size_t runs) {
  if (runs < kLeastProcessRuns) return {.runs = kLeastProcessRuns};
  if (p < 0.01 && interval.high < 1 - threshold) return {Change::Faster};
  if (p < 0.01 && interval.low > 1 + threshold) return {Change::Slower};
  if (interval.low >= 1 - threshold && interval.high <= 1 + threshold)
    return {Change::Equal, std::max(1 - interval.low, interval.high - 1)};
  // The interval narrows with the root of the runs, around the ratio, until it lies on one side of a limit.
  const double distance = std::fabs(std::fabs(interval.ratio - 1) - threshold);
  const double half = std::max(interval.high - interval.ratio, interval.ratio - interval.low);
  const double needed = std::ceil(static_cast<double>(runs) * std::pow(half / std::max(distance, 1e-6), 2));
  const double most = static_cast<double>(std::max(kMostRuns, runs + 1));
  return {.runs = static_cast<size_t>(std::clamp(needed, static_cast<double>(runs + 1), most))};
}

std::string textOf(const Judgement& judgement) {
  switch (judgement.change) {
    case Change::Faster: return "faster";
    case Change::Slower: return "SLOWER";
    case Change::Equal: return fmt::format("equal within {:.1f} %", 100 * judgement.within);
    case Change::NotShown: break;
  }
  return fmt::format("not shown: {} {} runs a side would", judgement.runs < kMostRuns ? "about" : "at least",
                     judgement.runs);
}

}  // namespace opkit::harness
