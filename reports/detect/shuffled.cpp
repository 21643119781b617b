#include "reports/detect/shuffled.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "harness/cases/rng.h"
#include "reports/detect/candidates.h"
#include "reports/detect/student.h"

namespace opkit::reports::detect {
namespace {

constexpr size_t kRounds = 5;      // of removing changes: a series may have several
constexpr size_t kLeastDrawn = 5;  // histories, however large
constexpr double kWork = 2.4e8;    // of all draws: pairs of nights, and process runs at kWorkOfRun pairs each
constexpr double kWorkOfRun = 14;
constexpr size_t kNightsTogether = 2;  // successive nights that stay together, joined ones counted as one

Series emptyLike(const Series& series) {
  Series empty;
  empty.key = series.key;
  empty.kind = series.kind;
  empty.timeline = series.timeline;
  return empty;
}

/// Noisy series, each with the nights that are judged: the last `window`, joined as judge() joins them.
History windowOf(const History& history, const Settings& settings) {
  History window;
  window.timelines = history.timelines;
  for (const Series& series : history.series) {
    if (!isNoisy(series.kind)) continue;
    const Series joined = series.pooled(settings.leastRuns);
    if (joined.size() < settings.leastNights) continue;
    const uint32_t first = joined.night(joined.size() - std::min(joined.size(), settings.window));
    Series last = emptyLike(series);
    for (size_t i = 0; i < series.size(); ++i)
      if (series.night(i) >= first) last.add(series.night(i), series.runs(i));
    window.series.push_back(std::move(last));
  }
  return window;
}

/// The series with all runs from `night` on multiplied by `factor`.
Series scaledFrom(const Series& series, uint32_t night, double factor) {
  Series scaled = emptyLike(series);
  for (size_t i = 0; i < series.size(); ++i) {
    std::vector<double> runs(series.runs(i).begin(), series.runs(i).end());
    if (series.night(i) >= night)
      for (double& run : runs) run *= factor;
    scaled.add(series.night(i), runs);
  }
  return scaled;
}

/// For each series the nights at which the detector finds changes. It finds the last one of a series; that one is
/// removed and the rest is judged again.
std::vector<std::set<uint32_t>> changesOf(History history, const Settings& settings) {
  std::vector<std::set<uint32_t>> changes(history.series.size());
  for (size_t round = 0; round < kRounds; ++round) {
    const Judgement judgement = judge(history, settings);
    bool changed = false;
    for (size_t i = 0; i < history.series.size(); ++i) {
      const auto& change = judgement.series[i].change;
      if (!change || !(change->from > 0) || !(change->to > 0)) continue;
      history.series[i] = scaledFrom(history.series[i], change->firstBad, change->from / change->to);
      changes[i].insert(change->firstBad);
      changed = true;
    }
    if (!changed) break;
  }
  return changes;
}

/// The measured nights [begin, end) between two changes.
struct Stretch {
  size_t begin = 0, end = 0;
  double level = 0;  // logarithm
};

std::vector<Stretch> stretchesOf(const Series& series, const std::set<uint32_t>& changes) {
  std::vector<Stretch> stretches;
  for (size_t i = 0; i < series.size(); ++i) {
    if (i == 0 || changes.contains(series.night(i))) stretches.push_back({.begin = i});
    stretches.back().end = i + 1;
  }
  for (Stretch& stretch : stretches) {
    std::vector<double> values = nightlyValues(series, stretch.begin, stretch.end - stretch.begin);
    stretch.level = medianInPlace(values);
  }
  return stretches;
}

/// The series at the level of its first stretch. A short stretch that ended is noise and stays what it was beside the
/// one before; the last one is tonight's finding.
Series onOneLevel(const Series& series, const std::set<uint32_t>& changes, const Settings& settings) {
  const std::vector<Stretch> stretches = stretchesOf(series, changes);
  Series flat = emptyLike(series);
  double factor = 1;
  for (size_t k = 0; k < stretches.size(); ++k) {
    const auto& [begin, end, level] = stretches[k];
    size_t count = 0;
    for (size_t i = begin; i < end; ++i) count += series.runs(i).size();
    const size_t nights = std::min(end - begin, count / settings.leastRuns);  // joined ones count as one
    const bool isShort = nights < settings.leastNights && k + 1 < stretches.size();
    if (!isShort) factor = std::exp(stretches.front().level - level);
    for (size_t i = begin; i < end; ++i) {
      std::vector<double> runs(series.runs(i).begin(), series.runs(i).end());
      for (double& run : runs) run *= factor;
      flat.add(series.night(i), runs);
    }
  }
  return flat;
}

void removeChanges(History& history, const Settings& settings) {
  const std::vector<std::set<uint32_t>> changes = changesOf(history, settings);
  for (size_t i = 0; i < changes.size(); ++i)
    if (!changes[i].empty()) history.series[i] = onOneLevel(history.series[i], changes[i], settings);
}

/// Puts the value of each night in place of its runs, where no nights are to be joined: it would be the same in every
/// order. Settings change with it.
void reduceNights(History& history, Settings& settings) {
  for (const Series& series : history.series)
    for (size_t i = 0; i < series.size(); ++i)
      if (series.runs(i).size() < settings.leastRuns) return;
  for (Series& series : history.series) {
    const std::vector<double> values = nightlyValues(series, 0, series.size());
    Series reduced = emptyLike(series);
    for (size_t i = 0; i < series.size(); ++i) {
      const double value = std::exp(values[i]);
      reduced.add(series.night(i), {&value, 1});
    }
    series = std::move(reduced);
  }
  settings.leastRuns = 1;
}

/// For each timeline the number of successive nights that stay together: blocks of joined nights.
std::vector<size_t> blocksOf(const History& history, const Settings& settings) {
  std::vector<size_t> blocks(history.timelines.size(), kNightsTogether);
  for (const Series& series : history.series) {
    const size_t joined = std::max<size_t>(1, series.pooled(settings.leastRuns).size());
    size_t& block = blocks[series.timeline];
    block = std::max(block, kNightsTogether * ((series.size() + joined / 2) / joined));
  }
  return blocks;
}

/// For each night of a timeline its place in a random order in which blocks of nights stay together.
std::vector<uint32_t> randomPlaces(size_t nights, size_t block, harness::Rng& rng) {
  const size_t offset = rng.next() % block;
  std::vector<uint64_t> keys((nights + offset) / block + 1);
  for (uint64_t& key : keys) key = rng.next();
  std::vector<uint32_t> order(nights), places(nights);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](uint32_t a, uint32_t b) { return keys[(a + offset) / block] < keys[(b + offset) / block]; });
  // Of joined nights the last block may be cut: whatever it holds can begin on any night.
  if (block > kNightsTogether && nights > block)
    std::rotate(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(rng.next() % block), order.end());
  for (uint32_t i = 0; i < nights; ++i) places[order[i]] = i;
  return places;
}

/// The series with its nights in the order of their places.
Series reordered(const Series& series, const std::vector<uint32_t>& places) {
  std::vector<uint32_t> order(series.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
            [&](uint32_t a, uint32_t b) { return places[series.night(a)] < places[series.night(b)]; });
  Series shuffled = emptyLike(series);
  for (size_t i = 0; i < series.size(); ++i) shuffled.add(series.night(i), series.runs(order[i]));
  return shuffled;
}

History shuffled(const History& history, const std::vector<size_t>& blocks, harness::Rng& rng) {
  History other;
  other.timelines = history.timelines;
  std::vector<std::vector<uint32_t>> places;
  for (size_t i = 0; i < blocks.size(); ++i)
    places.push_back(randomPlaces(history.timelines[i].nights.size(), blocks[i], rng));
  for (const Series& series : history.series) other.series.push_back(reordered(series, places[series.timeline]));
  return other;
}

/// How many histories to draw, from the size of one.
size_t drawsOf(const History& history, const Settings& settings, size_t mostDrawn) {
  double work = 0;
  for (const Series& series : history.series) {
    const auto nights = static_cast<double>(std::min(series.size(), settings.window));
    double runs = 0;
    for (size_t i = 0; i < series.size(); ++i) runs += static_cast<double>(series.runs(i).size());
    work += nights * nights + kWorkOfRun * runs;
  }
  const auto affordable = static_cast<size_t>(kWork / std::max(work, 1.0));
  return std::clamp(affordable, std::min(kLeastDrawn, mostDrawn), mostDrawn);
}

}  // namespace

ShuffledAlarms shuffledAlarms(const History& history, const Settings& settings, size_t mostDrawn) {
  Settings quick = settings;
  quick.resamples = 1;  // intervals are not read
  History window = windowOf(history, quick);
  ShuffledAlarms alarms;
  alarms.series = window.series.size();
  if (alarms.series == 0) return alarms;
  for (const Series& series : window.series)
    alarms.nights = std::max(alarms.nights, series.pooled(quick.leastRuns).size());
  removeChanges(window, quick);
  reduceNights(window, quick);
  alarms.drawn = drawsOf(window, quick, mostDrawn);
  const std::vector<size_t> blocks = blocksOf(window, quick);
  harness::Rng rng(settings.seed);
  for (size_t draw = 0; draw < alarms.drawn; ++draw) {
    const Judgement judgement = judge(shuffled(window, blocks, rng), quick);
    const auto found = static_cast<size_t>(std::ranges::count_if(judgement.series, &SeriesVerdict::fresh));
    alarms.alarmed += found > 0;
    alarms.found += found;
  }
  return alarms;
}

}  // namespace opkit::reports::detect
