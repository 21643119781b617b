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

/// The values of a time in the newest night; empty if it has fewer than four.
std::span<const double> newestRuns(const Series& series, size_t nights) {
  if (!isTime(series) || series.points.empty() || series.points.back().night + 1 != nights) return {};
  const std::span<const double> values = series.at(series.points.back());
  const bool usable = values.size() >= kLeastValues && std::ranges::all_of(values, [](double v) { return v > 0; });
  return usable ? values : std::span<const double>{};
}

}  // namespace

Halves compareHalves(const std::vector<Night>& nights, const std::vector<Series>& all) {
  Halves result;
  const CompareOptions options;
  struct Tested {
    const Series* series;
    double p, ratio;
  };
  std::vector<Tested> tested;
  std::vector<double> probabilities;
  for (const Series& series : all) {
    const std::span<const double> values = newestRuns(series, nights.size());
    if (values.empty()) continue;
    const std::vector<double> a = halfOf(values, 0), b = halfOf(values, 1);
    tested.push_back({&series, welchOnLogarithms(a, b), geometricMean(b) / geometricMean(a)});
    probabilities.push_back(tested.back().p);
    result.runs = std::max(result.runs, values.size());
  }
  result.times = tested.size();
  const double cutoff = detect::falseDiscoveryCutoff(std::move(probabilities), tested.size(), options.falseDiscovery);
  for (const Tested& one : tested)
    if (one.p <= cutoff && std::fabs(one.ratio - 1) > options.threshold)
      result.differ.push_back(fmt::format("{} on {}: {} {:.3g} times, p = {:.2g}", one.series->key.caseId,
                                          one.series->key.backend, one.series->key.metric, one.ratio, one.p));
  return result;
}

std::string Halves::summary() const {
  if (times == 0) return "A/A: no figure has four process runs tonight: nothing to compare";
  return fmt::format("A/A: the {} process runs of tonight in two halves: {} of {} times differ", runs, differ.size(),
                     times);
}

}  // namespace opkit::reports
