#include "reports/detect/judge.h"

#include <algorithm>
#include <cmath>

#include "reports/detect/bootstrap.h"
#include "reports/detect/candidates.h"
#include "reports/detect/digests.h"
#include "reports/detect/environment.h"
#include "reports/detect/false_discovery.h"
#include "reports/detect/grouping.h"

namespace opkit::reports::detect {
namespace {

/// Changes that compete for the false discoveries of one night. Old and exact changes are certain in large numbers;
/// they would let chance in with them.
struct Family {
  std::vector<double> probabilities;
  double cutoff = 0;
};
struct Families {
  Family recentNoisy, oldNoisy, recentExact, oldExact;

  Family& of(const Series& series, const ChangePoint& point, const Settings& settings) {
    const bool recent = series.size() - point.index <= settings.recentNights;
    if (isNoisy(series.kind)) return recent ? recentNoisy : oldNoisy;
    return recent ? recentExact : oldExact;
  }
};

/// Whether anything was measured lately; a case that was removed has no verdict.
bool isCurrent(const Series& series, const History& history, const Settings& settings) {
  return series.size() > 0 && series.lastNight(series.size() - 1) + settings.recentNights >=
                                  history.timelines[series.timeline].nights.size();
}

/// Noisy series with joined nights; the others are empty.
std::vector<Series> pooledSeries(const History& history, const Settings& settings) {
  std::vector<Series> pooled(history.series.size());
  for (size_t i = 0; i < pooled.size(); ++i)
    if (isNoisy(history.series[i].kind)) pooled[i] = history.series[i].pooled(settings.leastRuns);
  return pooled;
}

const Series& judgedSeries(const History& history, const std::vector<Series>& pooled, size_t index) {
  return isNoisy(history.series[index].kind) ? pooled[index] : history.series[index];
}

std::vector<Candidate> findCandidates(const History& history, const std::vector<Series>& pooled,
                                      const Settings& settings) {
  std::vector<Candidate> candidates(history.series.size());
  for (size_t i = 0; i < candidates.size(); ++i) {
    const Series& series = history.series[i];
    if (series.kind == MetricKind::Digest || !isCurrent(series, history, settings)) continue;
    candidates[i] =
        isNoisy(series.kind) ? findNoisyCandidate(series, pooled[i], settings) : findCandidate(series, settings);
  }
  return candidates;
}

Families controlDiscoveries(const History& history, const std::vector<Series>& pooled,
                            const std::vector<Candidate>& candidates, const Settings& settings) {
  Families families;
  size_t noisy = 0, exact = 0;
  for (size_t i = 0; i < candidates.size(); ++i) {
    if (!candidates[i].enough) continue;
    ++(isNoisy(history.series[i].kind) ? noisy : exact);
    for (const ChangePoint& point : candidates[i].points)
      if (point.p > 0) families.of(judgedSeries(history, pooled, i), point, settings).probabilities.push_back(point.p);
  }
  const auto control = [&](Family& family, size_t hypotheses) {
    family.cutoff = falseDiscoveryCutoff(family.probabilities, std::max(hypotheses, settings.leastHypotheses),
                                         settings.falseDiscoveryRate);
  };
  control(families.recentNoisy, noisy), control(families.oldNoisy, noisy);
  control(families.recentExact, exact), control(families.oldExact, exact);
  return families;
}

bool isBetter(MetricKind kind, const ChangePoint& point) {
  return (point.after > point.before) == higherIsBetter(kind);
}

SeriesVerdict verdictOf(const History& history, const Series& series, const Candidate& candidate, Families& families,
                        const Settings& settings) {
  SeriesVerdict verdict;
  if (!candidate.enough) return verdict;
  verdict.verdict = Verdict::Same;
  for (size_t i = candidate.points.size(); i-- > 0;) {
    const ChangePoint& point = candidate.points[i];
    const double cutoff = families.of(series, point, settings).cutoff;
    if (point.p > cutoff) continue;
    verdict.verdict = isBetter(series.kind, point) ? Verdict::Better : Verdict::Worse;
    const bool last = i + 1 == candidate.points.size();
    Change change{.lastGood = series.lastNight(point.index - 1), .firstBad = series.night(point.index), .p = point.p};
    change.nightsAfter = series.size() - point.index;
    change.jump = last && candidate.jump;
    verdict.fresh = last && candidate.previousP > std::min(cutoff, settings.strictP);
    measureChange(series, point, settings, change);
    change.moved = movedFacts(history.timelines[series.timeline], change.lastGood, change.firstBad,
                              !isNoisy(series.kind), settings);
    verdict.change = std::move(change);
    break;
  }
  return verdict;
}

}  // namespace

const char* nameOf(Verdict verdict) {
  switch (verdict) {
    case Verdict::Better: return "better";
    case Verdict::Worse: return "worse";
    case Verdict::Same: return "same";
    case Verdict::InsufficientData: return "insufficient data";
  }
  return "";
}

const char* nameOf(Bits bits) {
  switch (bits) {
    case Bits::None: return "";
    case Bits::Same: return "same bits";
    case Bits::OnlyBits: return "bits changed, error did not";
    case Bits::WithError: return "bits and error changed";
    case Bits::ErrorUnknown: return "bits changed, error unknown";
    case Bits::Unstable: return "bits differ from night to night";
  }
  return "";
}

Judgement judge(const History& history, const Settings& settings) {
  Judgement judgement;
  const std::vector<Series> pooled = pooledSeries(history, settings);
  const std::vector<Candidate> candidates = findCandidates(history, pooled, settings);
  Families families = controlDiscoveries(history, pooled, candidates, settings);
  judgement.cutoff = families.recentNoisy.cutoff;
  for (size_t i = 0; i < candidates.size(); ++i)
    judgement.series.push_back(verdictOf(history, judgedSeries(history, pooled, i), candidates[i], families, settings));
  judgeDigests(history, settings, judgement.series);
  judgement.findings = groupChanges(history, judgement.series);
  return judgement;
}

}  // namespace opkit::reports::detect
