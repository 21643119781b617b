#include "reports/detect/evaluate/trials.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

namespace opkit::reports::detect {
namespace {

constexpr size_t kMorningsAllowed = 3;
constexpr uint32_t kSplitSlack = 2;  // nights by which a change may be misplaced

std::vector<double> timesOf(const std::vector<double>& logs, double change) {
  std::vector<double> times;
  for (const double log : logs) times.push_back(1e6 * std::exp(log) * (1 + change));
  return times;
}

Series newSeries(size_t index, MetricKind kind) {
  Series series;
  series.kind = kind;
  series.key = {.caseId = fmt::format("case {}", index),
                .op = fmt::format("Op{}", index % 150),
                .backend = "cpu",
                .provider = "opkit",
                .dtype = "f32",
                .metric = kind == MetricKind::Time ? "executeWall" : "margin"};
  return series;
}

bool near(uint32_t a, uint32_t b, size_t slack) { return a <= b + slack && b <= a + slack; }

/// Series whose change was not reported on an earlier night, near the same place.
std::vector<uint32_t> newlyFound(const Judgement& judgement, size_t slack,
                                 std::vector<std::vector<uint32_t>>& reported) {
  std::vector<uint32_t> found;
  for (size_t i = 0; i < judgement.series.size(); ++i) {
    if (!judgement.series[i].change) continue;
    const uint32_t night = judgement.series[i].change->firstBad;
    const bool known =
        std::any_of(reported[i].begin(), reported[i].end(), [&](uint32_t n) { return near(n, night, slack); });
    if (!known) reported[i].push_back(night), found.push_back(static_cast<uint32_t>(i));
  }
  return found;
}

size_t groupsWith(const Judgement& judgement, const std::vector<uint32_t>& series) {
  return static_cast<size_t>(std::count_if(judgement.findings.begin(), judgement.findings.end(), [&](const auto& f) {
    return std::any_of(f.series.begin(), f.series.end(),
                       [&](uint32_t i) { return std::binary_search(series.begin(), series.end(), i); });
  }));
}

void addNight(History& history, std::vector<NoiseSeries>& noise) {
  auto& nights = history.timelines.front().nights;
  nights.emplace_back();
  for (size_t i = 0; i < noise.size(); ++i)
    history.series[i].add(static_cast<uint32_t>(nights.size() - 1), timesOf(noise[i].next(), 0));
}

}  // namespace

size_t joinedNights(const TrialSettings& settings) {
  return (settings.detector.leastRuns + settings.noise.runs - 1) / settings.noise.runs;
}

FalseFindings countFalseFindings(const std::vector<Residuals>& residuals, const TrialSettings& settings) {
  History history{.timelines = std::vector<Timeline>(1)};
  std::vector<NoiseSeries> noise;
  harness::Rng seeds(settings.seed);
  for (size_t i = 0; i < settings.series; ++i) {
    noise.emplace_back(residuals[i % residuals.size()], 0, settings.noise, seeds.next());
    history.series.push_back(newSeries(i, MetricKind::Time));
  }
  std::vector<std::vector<uint32_t>> reported(settings.series);
  FalseFindings result{.nights = settings.nights};
  const size_t joined = joinedNights(settings), before = settings.before * joined;
  for (size_t night = 0; night < before + settings.nights; ++night) {
    addNight(history, noise);
    if (night + 1 < before) continue;
    const auto start = std::chrono::steady_clock::now();
    const Judgement judgement = judge(history, settings.detector);
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    const std::vector<uint32_t> found = newlyFound(judgement, kSplitSlack * joined, reported);
    if (night < before) continue;
    result.series += found.size();
    result.findings += groupsWith(judgement, found);
    result.secondsPerNight += taken.count() / static_cast<double>(settings.nights);
  }
  return result;
}

FoundShare injectSlowDowns(const std::vector<Residuals>& residuals, double change, double spread,
                           const TrialSettings& settings) {
  std::vector<const Residuals*> steady;
  for (const Residuals& series : residuals)
    if (series.spread <= spread) steady.push_back(&series);
  FoundShare share;
  if (steady.empty()) return share;
  Settings detector = settings.detector;
  detector.leastHypotheses = settings.series;
  harness::Rng seeds(settings.seed + 1);
  const size_t joined = joinedNights(settings), before = settings.before * joined;
  for (; share.trials < settings.injected; ++share.trials) {
    NoiseSeries noise(*steady[share.trials % steady.size()], spread, settings.noise, seeds.next());
    History history{.timelines = std::vector<Timeline>(1), .series = {newSeries(share.trials, MetricKind::Time)}};
    for (size_t night = 0; night < before + kMorningsAllowed * joined; ++night) {
      const bool changed = night >= before;
      history.timelines.front().nights.emplace_back();
      history.series.front().add(static_cast<uint32_t>(night), timesOf(noise.next(), changed ? change : 0));
      if (!changed) continue;
      const SeriesVerdict verdict = judge(history, detector).series.front();
      if (verdict.verdict != Verdict::Worse ||
          !near(verdict.change->firstBad, static_cast<uint32_t>(before), kSplitSlack * joined))
        continue;
      for (size_t k = (night - before) / joined; k < kMorningsAllowed; ++k) share.within[k] += 1;
      break;
    }
  }
  for (double& found : share.within) found /= static_cast<double>(share.trials);
  return share;
}

double injectJumps(double factor, const TrialSettings& settings) {
  harness::Rng rng(settings.seed + 2);
  History history{.timelines = std::vector<Timeline>(1)};
  history.timelines.front().nights.resize(settings.before + 1);
  for (size_t i = 0; i < settings.injected; ++i) {
    Series series = newSeries(i, MetricKind::Accuracy);
    const double level = i % 4 < 2 ? rng.uniform(1e-3, 0.2) : static_cast<double>(rng.integer(1, 8));  // margin or ULP
    const double fluctuation = i % 2 ? 0.1 : 0;
    for (uint32_t night = 0; night <= settings.before; ++night) {
      const double value = level * (1 + fluctuation * rng.uniform(-1, 1));
      series.add(night, std::vector<double>{night == settings.before ? factor * level : value});
    }
    history.series.push_back(std::move(series));
  }
  const Judgement judgement = judge(history, settings.detector);
  const auto found = std::count_if(judgement.series.begin(), judgement.series.end(),
                                   [](const SeriesVerdict& v) { return v.verdict == Verdict::Worse && v.fresh; });
  return static_cast<double>(found) / static_cast<double>(settings.injected);
}

}  // namespace opkit::reports::detect
