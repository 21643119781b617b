#include "reports/history/halves.h"

#include <algorithm>
#include <cmath>

#include "reports/detect/false_discovery.h"
#include "reports/history/compare.h"

namespace opkit::reports {
namespace {

constexpr size_t kLeastValues = 4;

/// The values at even or odd places.
std::vector<double> halfOf(std::span<const double> values, size_t first) {
  std::vector<double> half;
  for (size_t i = first; i < values.size(); i += 2) half.push_back(values[i]);
  return half;
}

bool isTime(const Series& series) { return !std::ranges::count(exactMetrics(), series.key.metric); }

/// The values of a time in a night; empty if it has fewer than four.
std::span<const double> runsOf(const Series& series, size_t night) {
  if (!isTime(series)) return {};
  const auto point = std::ranges::lower_bound(series.points, night, {}, &Point::night);
  if (point == series.points.end() || point->night != night) return {};
  const std::span<const double> values = series.at(*point);
  const bool usable = values.size() >= kLeastValues && std::ranges::all_of(values, [](double v) { return v > 0; });
  return usable ? values : std::span<const double>{};
}

struct Pair {
  const Series* series;
  double p, ratio;
};
struct Pairs {
  std::vector<Pair> tested, differing;
  size_t runs = 0;  // of most
};

Pairs comparePairs(const std::vector<Series>& all, size_t night) {
  const CompareOptions options;
  Pairs pairs;
  std::vector<double> probabilities;
  for (const Series& series : all) {
    const std::span<const double> values = runsOf(series, night);
    if (values.empty()) continue;
    const std::vector<double> a = halfOf(values, 0), b = halfOf(values, 1);
    pairs.tested.push_back({&series, welchOnLogarithms(a, b), geometricMean(b) / geometricMean(a)});
    probabilities.push_back(pairs.tested.back().p);
    pairs.runs = std::max(pairs.runs, values.size());
  }
  const double cutoff =
      detect::falseDiscoveryCutoff(std::move(probabilities), pairs.tested.size(), options.falseDiscovery);
  for (const Pair& pair : pairs.tested)
    if (pair.p <= cutoff && std::fabs(pair.ratio - 1) > options.threshold) pairs.differing.push_back(pair);
  return pairs;
}

}  // namespace

Halves compareHalves(const std::vector<Night>& nights, const std::vector<Series>& all) {
  Halves result;
  if (nights.empty()) return result;
  const Pairs pairs = comparePairs(all, nights.size() - 1);
  result.times = pairs.tested.size();
  result.runs = pairs.runs;
  for (const Pair& pair : pairs.differing) {
    const SeriesKey& key = pair.series->key;
    result.differ.push_back(fmt::format("{}{}{}: {} {:.3g} times, p = {:.2g}", key.caseId,
                                        key.backend.empty() ? "" : " on ", key.backend, key.metric, pair.ratio,
                                        pair.p));
  }
  return result;
}

HalvesOfNights compareHalvesOfNights(const std::vector<Night>& nights, const std::vector<Series>& all) {
  HalvesOfNights result;
  for (size_t night = 0; night < nights.size(); ++night) {
    const Pairs pairs = comparePairs(all, night);
    result.nights += !pairs.tested.empty();
    result.times += pairs.tested.size();
    result.differ += pairs.differing.size();
    result.nightsThatDiffer += !pairs.differing.empty();
  }
  return result;
}

std::string HalvesOfNights::summary() const {
  if (times == 0) return "A/A: no series has four process runs in a night: nothing to compare";
  return fmt::format(
      "A/A: the process runs of {} night{} in two halves: {} of {} pairs differ ({:.2g} %), in {} night{}", nights,
      nights == 1 ? "" : "s", differ, times, 100 * static_cast<double>(differ) / static_cast<double>(times),
      nightsThatDiffer, nightsThatDiffer == 1 ? "" : "s");
}

std::string Halves::summary() const {
  if (times == 0) return "A/A: no figure has four process runs tonight: nothing to compare";
  return fmt::format("A/A: the {} process runs of tonight in two halves: {} of {} times differ", runs, differ.size(),
                     times);
}

}  // namespace opkit::reports
