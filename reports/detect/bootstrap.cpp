#include "reports/detect/bootstrap.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "harness/cases/rng.h"
#include "reports/detect/candidates.h"
#include "reports/detect/student.h"

namespace opkit::reports::detect {
namespace {

using Nights = std::vector<std::span<const double>>;  // process runs of each night

Nights nightsOf(const Series& series, size_t begin, size_t end) {
  Nights nights;
  for (size_t i = begin; i < end; ++i) nights.push_back(series.runs(i));
  return nights;
}

/// Level of nights, each of which is reduced as by the detector.
double levelOfNights(const Nights& nights, MetricKind kind) {
  std::vector<double> values, runs;
  for (const auto& night : nights) {
    runs.assign(night.begin(), night.end());
    values.push_back(nightlyValue(runs, kind));
  }
  return medianInPlace(values);
}

double resampledLevel(const Nights& nights, MetricKind kind, harness::Rng& rng) {
  std::vector<double> values, runs;
  for (size_t i = 0; i < nights.size(); ++i) {
    const auto& night = nights[rng.next() % nights.size()];
    runs.clear();
    for (size_t k = 0; k < night.size(); ++k) runs.push_back(night[rng.next() % night.size()]);
    values.push_back(nightlyValue(runs, kind));
  }
  return medianInPlace(values);
}

/// An unchanged level has the ratio 1, even if it is 0 or no number.
double ratioOf(double from, double to) {
  if (from == to || (!std::isfinite(from) && !std::isfinite(to))) return 1;
  if (!std::isfinite(to) || from == 0) return std::numeric_limits<double>::infinity();
  return std::isfinite(from) ? to / from : 0;
}

/// NaN sorts after every number, as infinity does: a broken result is the worst one.
Nights withoutNan(const Nights& nights, std::vector<std::vector<double>>& storage) {
  Nights clean;
  for (const auto& night : nights) {
    storage.emplace_back(night.begin(), night.end());
    for (double& value : storage.back())
      if (std::isnan(value)) value = std::numeric_limits<double>::infinity();
  }
  for (const auto& night : storage) clean.emplace_back(night);
  return clean;
}

}  // namespace

void measureChange(const Series& series, const ChangePoint& point, const Settings& settings, Change& change) {
  std::vector<std::vector<double>> leftStorage, rightStorage;
  const Nights left = withoutNan(nightsOf(series, point.begin, point.index), leftStorage),
               right = withoutNan(nightsOf(series, point.index, point.end), rightStorage);
  change.from = levelOfNights(left, series.kind);
  change.to = levelOfNights(right, series.kind);
  change.ratio = ratioOf(change.from, change.to);
  harness::Rng rng(settings.seed ^ harness::hashText(series.key.caseId + '\n' + series.key.metric));
  std::vector<double> ratios;
  for (size_t i = 0; i < settings.resamples; ++i) {
    const double from = resampledLevel(left, series.kind, rng);
    ratios.push_back(ratioOf(from, resampledLevel(right, series.kind, rng)));
  }
  std::sort(ratios.begin(), ratios.end());
  const auto at = [&](double share) {
    return ratios[static_cast<size_t>(std::lround(share * static_cast<double>(ratios.size() - 1)))];
  };
  change.low = at((1 - settings.confidence) / 2);
  change.high = at((1 + settings.confidence) / 2);
}

}  // namespace opkit::reports::detect
