#include "reports/detect/digests.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "reports/detect/candidates.h"
#include "reports/detect/environment.h"

namespace opkit::reports::detect {
namespace {

/// Bits that changed on more than this share of nights come and go by themselves.
constexpr size_t kUnstableOneIn = 4;

using Errors = std::unordered_map<std::string, std::vector<uint32_t>>;  // of a case: its Accuracy series

std::string caseOf(const Series& series) {
  const SeriesKey& key = series.key;
  return fmt::format("{}\n{}\n{}\n{}\n{}", series.timeline, key.caseId, key.backend, key.provider, key.dtype);
}

Errors errorsByCase(const History& history) {
  Errors errors;
  for (size_t i = 0; i < history.series.size(); ++i)
    if (history.series[i].kind == MetricKind::Accuracy)
      errors[caseOf(history.series[i])].push_back(static_cast<uint32_t>(i));
  return errors;
}

/// The logarithm of an accuracy on a night; NaN if it was not measured.
double errorAt(const Series& series, uint32_t night) {
  for (size_t i = series.size(); i-- > 0 && series.night(i) >= night;)
    if (series.night(i) == night) return nightlyValues(series, i, 1).front();
  return std::nan("");
}

Bits compareErrors(const History& history, const std::vector<uint32_t>& errors, const Change& change,
                   const Settings& settings) {
  size_t compared = 0;
  for (const uint32_t index : errors) {
    const double before = errorAt(history.series[index], change.lastGood),
                 after = errorAt(history.series[index], change.firstBad);
    if (std::isnan(before) || std::isnan(after)) continue;
    ++compared;
    if (std::fabs(after - before) >= std::log1p(settings.leastAccuracyEffect)) return Bits::WithError;
  }
  return compared > 0 ? Bits::OnlyBits : Bits::ErrorUnknown;
}

SeriesVerdict judgeDigest(const History& history, const Series& series, const Errors& errors,
                          const Settings& settings) {
  SeriesVerdict verdict;
  const size_t count = std::min(series.size(), settings.window), first = series.size() - count;
  if (count < settings.leastExactNights) return verdict;
  verdict.verdict = Verdict::Same;
  size_t changes = 0, last = 0;
  for (size_t i = first + 1; i < series.size(); ++i)
    if (series.digest(i) != series.digest(i - 1)) ++changes, last = i;
  verdict.bits = changes > 1 && changes * kUnstableOneIn > count ? Bits::Unstable : Bits::Same;
  if (changes == 0 || verdict.bits == Bits::Unstable || series.size() - last > settings.recentNights) return verdict;
  Change change{.lastGood = series.night(last - 1), .firstBad = series.night(last), .p = 0};
  change.nightsAfter = series.size() - last;
  change.moved = movedFacts(history.timelines[series.timeline], change.lastGood, change.firstBad, true, settings);
  const auto found = errors.find(caseOf(series));
  verdict.bits = found == errors.end() ? Bits::ErrorUnknown : compareErrors(history, found->second, change, settings);
  verdict.fresh = change.nightsAfter == 1;
  verdict.change = std::move(change);
  return verdict;
}

}  // namespace

void judgeDigests(const History& history, const Settings& settings, std::vector<SeriesVerdict>& verdicts) {
  const Errors errors = errorsByCase(history);
  for (size_t i = 0; i < history.series.size(); ++i)
    if (history.series[i].kind == MetricKind::Digest)
      verdicts[i] = judgeDigest(history, history.series[i], errors, settings);
}

}  // namespace opkit::reports::detect
