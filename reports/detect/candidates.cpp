#include "reports/detect/candidates.h"

#include <algorithm>
#include <cmath>

#include "reports/detect/student.h"

namespace opkit::reports::detect {
namespace {

constexpr double kLeastAccuracy = 1e-30, kBroken = 1e30;  // stand for 0 and for infinity and NaN

double scaled(double value, MetricKind kind) {
  if (isNoisy(kind)) return std::log(value);
  if (kind != MetricKind::Accuracy) return value;
  return std::log(std::isfinite(value) ? std::clamp(value, kLeastAccuracy, kBroken) : kBroken);
}

SplitSettings splitSettings(const Series& series, std::span<const double> values, const Settings& settings) {
  SplitSettings split{.weakP = settings.strictP * 10, .strictP = settings.strictP};
  if (isNoisy(series.kind)) {
    split.leastEffect = std::log1p(settings.leastNoisyEffect);
    split.leastSpreads = settings.leastSpreads;
    split.noiseFloor = settings.noiseFloor;
    return split;
  }
  split.leastNights = 1;  // an exact metric has no outlier nights
  split.noiseFloor = 1e-5;
  if (series.kind == MetricKind::Accuracy)
    split.leastEffect = std::log1p(settings.leastAccuracyEffect);
  else
    split.noiseFloor *= std::max(1e-3, std::fabs(values.front()));
  return split;
}

/// Whether tonight alone is evidence: an accuracy that left its past by the factor, or an exact value that never moved
/// before.
bool isJump(const Series& series, std::span<const double> values, const Settings& settings) {
  if (isNoisy(series.kind)) return false;
  const auto past = values.first(values.size() - 1);
  const auto [least, most] = std::minmax_element(past.begin(), past.end());
  const double tonight = values.back();
  if (series.kind != MetricKind::Accuracy) return *least == *most && tonight != *least;
  std::vector<double> copy(past.begin(), past.end());
  const double factor = std::log(settings.jumpFactor) - 1e-9;
  return std::fabs(tonight - medianInPlace(copy)) >= factor && (tonight > *most || tonight < *least);
}

ChangePoint jumpPoint(std::span<const double> values, size_t begin) {
  const size_t last = values.size() - 1;
  return {.index = last,
          .begin = begin,
          .end = values.size(),
          .before = middleMean(values.subspan(begin, last - begin)),
          .after = values.back(),
          .p = 0};
}

/// Adds tonight's jump, in place of a change point that found it with less certainty.
bool addJump(const Series& series, std::span<const double> values, const Settings& settings,
             std::vector<ChangePoint>& points) {
  const bool tonight = !points.empty() && points.back().index + 1 == values.size();
  const size_t kept = points.size() - tonight, begin = kept > 0 ? points[kept - 1].index : 0;
  if (!isJump(series, values.subspan(begin), settings)) return false;
  points.resize(kept);
  points.push_back(jumpPoint(values, begin));
  return true;
}

}  // namespace

double nightlyValue(std::span<double> runs, MetricKind kind) {
  switch (kind) {
    case MetricKind::Time: return quantileInPlace(runs, 0.25);
    case MetricKind::Rate: return quantileInPlace(runs, 0.75);
    // A kernel that is wrong in one run of three is wrong.
    case MetricKind::Accuracy: return *std::max_element(runs.begin(), runs.end());
    default: return medianInPlace(runs);
  }
}

std::vector<double> nightlyValues(const Series& series, size_t first, size_t count) {
  std::vector<double> nightly, runs;
  for (size_t i = first; i < first + count; ++i) {
    runs.clear();
    for (const double value : series.runs(i)) runs.push_back(scaled(value, series.kind));
    nightly.push_back(nightlyValue(runs, series.kind));
  }
  return nightly;
}

Candidate findCandidate(const Series& series, const Settings& settings) {
  Candidate candidate;
  const size_t count = std::min(series.size(), settings.window), first = series.size() - count;
  candidate.enough = count >= (isNoisy(series.kind) ? settings.leastNights : settings.leastExactNights);
  if (!candidate.enough) return candidate;
  const std::vector<double> values = nightlyValues(series, first, count);
  const SplitSettings split = splitSettings(series, values, settings);
  candidate.points = changePoints(values, split);
  // A few nights at the window's start are no past to compare with; a change there was found when it was recent.
  if (isNoisy(series.kind))
    std::erase_if(candidate.points, [&](const ChangePoint& point) { return point.index < settings.leastNights; });
  if (addJump(series, values, settings, candidate.points)) {
    candidate.jump = true;
  } else if (!candidate.points.empty()) {
    const ChangePoint& last = candidate.points.back();
    if (last.end - last.index > split.leastNights)
      candidate.previousP = compareSegments(values, last.begin, last.index, last.end - 1, split).p;
  }
  for (ChangePoint& point : candidate.points) point.index += first, point.begin += first, point.end += first;
  return candidate;
}

Candidate findNoisyCandidate(const Series& series, const Series& joined, const Settings& settings) {
  Candidate candidate = findCandidate(joined, settings);
  const bool isJoined = joined.size() > 0 && joined.lastNight(joined.size() - 1) != joined.night(joined.size() - 1);
  if (!isJoined || candidate.points.empty()) return candidate;
  // A night later, all joints are elsewhere: the same change may be found up to one joined night away.
  const ChangePoint& last = candidate.points.back();
  const uint32_t first = joined.night(last.index - 1);
  const uint32_t past = joined.lastNight(std::min(last.index + 1, joined.size() - 1));
  const Series before = series.pooled(settings.leastRuns, 1);
  candidate.previousP = 1;
  for (const ChangePoint& point : findCandidate(before, settings).points)
    if (before.night(point.index) >= first && before.night(point.index) <= past)
      candidate.previousP = std::min(candidate.previousP, point.p);
  return candidate;
}

}  // namespace opkit::reports::detect
