#include "reports/history/judged.h"

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <tuple>

#include "reports/detect/environment.h"
#include "reports/detect/student.h"

namespace opkit::reports {
namespace {

constexpr size_t kSeriesShown = 8;  // of one finding

/// The device and options of a series, without its driver.
using Place = std::tuple<std::string, std::string, std::string, std::string, std::string>;

Place placeOf(const SeriesKey& key) { return {key.backend, key.device, key.uuid, key.machine, key.options}; }

detect::MetricKind kindOf(const std::string& metric) {
  static const std::set<std::string> errors = {"margin", "maxUlp", "maxAbs", "nmse"};
  static const std::set<std::string> sizes = {"shaderBytes", "arenaBytes", "allocations", "dispatches"};
  if (metric == "bits") return detect::MetricKind::Digest;
  if (metric == "rate") return detect::MetricKind::Rate;
  if (errors.contains(metric)) return detect::MetricKind::Accuracy;
  return sizes.contains(metric) ? detect::MetricKind::Size : detect::MetricKind::Time;
}

/// Places with two drivers in one night.
std::set<Place> placesOfSeveralDrivers(const std::vector<Series>& all) {
  std::map<Place, std::map<std::string, std::set<uint32_t>>> nights;  // by driver
  for (const Series& series : all) {
    std::set<uint32_t>& own = nights[placeOf(series.key)][series.key.driver];
    for (const Point& point : series.points) own.insert(point.night);
  }
  std::set<Place> several;
  for (const auto& [place, byDriver] : nights) {
    size_t sum = 0;
    std::set<uint32_t> together;
    for (const auto& [driver, own] : byDriver) {
      sum += own.size();
      together.insert(own.begin(), own.end());
    }
    if (sum > together.size()) several.insert(place);
  }
  return several;
}

detect::Night nightOf(const Night& night, const Environment& environment) {
  return {night.name,
          night.dirty ? night.commit + "+" : night.commit,
          {environment.loopNs > 0 ? environment.loopNs : std::numeric_limits<double>::quiet_NaN(), environment.driver,
           environment.compiler, environment.host, environment.os}};
}

/// Builds the timelines and joins series across drivers.
class Joiner {
 public:
  Joiner(const std::vector<Night>& nights, const std::vector<Environment>& environments, const std::vector<Series>& all)
      : nights_(nights), environments_(environments), several_(placesOfSeveralDrivers(all)) {
    for (const Series& series : all) collect(series);
  }

  detect::History joined() {
    detect::History history;
    for (auto& [key, measured] : timelines_) {
      detect::Timeline timeline;
      for (auto& [night, position] : measured.position) {
        position = static_cast<uint32_t>(timeline.nights.size());
        timeline.nights.push_back(nightOf(nights_[night], environments_[measured.environment[night]]));
      }
      measured.index = static_cast<uint32_t>(history.timelines.size());
      history.timelines.push_back(std::move(timeline));
    }
    for (auto& [key, parts] : parts_) {
      history.series.push_back(join(parts));
      alike_.push_back(parts.front()->alike);
      keys_.push_back(parts.front()->key);
    }
    return history;
  }

  /// Of each joined series, the number of series for which it stands.
  const std::vector<size_t>& alike() const { return alike_; }
  const std::vector<SeriesKey>& keys() const { return keys_; }
  /// Of each timeline, the nights of the store at which it was measured.
  std::vector<std::vector<uint32_t>> nightsOfTimelines() const {
    std::vector<std::vector<uint32_t>> all(timelines_.size());
    for (const auto& [key, measured] : timelines_)
      for (const auto& [night, position] : measured.position) all[measured.index].push_back(night);
    return all;
  }

 private:
  using TimelineKey = std::pair<Place, std::string>;  // a driver only where a night has several
  struct Measured {
    std::map<uint32_t, uint32_t> position;     // in the timeline, by night of the store
    std::map<uint32_t, uint32_t> environment;  // by night of the store
    uint32_t index = 0;
  };

  TimelineKey timelineOf(const SeriesKey& key) const {
    const Place place = placeOf(key);
    return {place, several_.contains(place) ? key.driver : ""};
  }

  void collect(const Series& series) {
    Measured& measured = timelines_[timelineOf(series.key)];
    for (const Point& point : series.points) {
      measured.position[point.night];
      measured.environment[point.night] = point.environment;
    }
    const SeriesKey& key = series.key;
    parts_[{timelineOf(key), key.kind, key.caseId, key.provider, key.metric}].push_back(&series);
  }

  /// Parts of one series under successive drivers.
  detect::Series join(std::vector<const Series*>& parts) const {
    const SeriesKey& key = parts.front()->key;
    const Measured& measured = timelines_.at(timelineOf(key));
    detect::Series joined;
    joined.key = {key.caseId, key.op, key.backend, key.provider, key.dtype, key.metric};
    joined.kind = kindOf(key.metric);
    joined.timeline = measured.index;
    std::map<uint32_t, std::span<const double>> byNight;
    for (const Series* part : parts)
      for (const Point& point : part->points) byNight.try_emplace(measured.position.at(point.night), part->at(point));
    for (const auto& [night, values] : byNight) {
      if (joined.kind != detect::MetricKind::Digest)
        joined.add(night, values);
      else if (std::isfinite(values.front()))
        joined.addDigest(night, static_cast<uint64_t>(values.front()));
    }
    return joined;
  }

  const std::vector<Night>& nights_;
  const std::vector<Environment>& environments_;
  const std::set<Place> several_;
  std::vector<size_t> alike_;
  std::vector<SeriesKey> keys_;
  std::map<TimelineKey, Measured> timelines_;
  std::map<std::tuple<TimelineKey, std::string, std::string, std::string, std::string>, std::vector<const Series*>>
      parts_;
};

const char* judgedName(detect::FindingKind kind) {
  switch (kind) {
    case detect::FindingKind::Worse: return "worse";
    case detect::FindingKind::Better: return "better";
    case detect::FindingKind::Bits: return "bits";
  }
  return "";
}

std::string changeText(const detect::SeriesVerdict& verdict, const std::string& metric) {
  if (verdict.bits != detect::Bits::None) return detect::nameOf(verdict.bits);
  const detect::Change& change = *verdict.change;
  return fmt::format("{} {:.3g} times ({:.3g} to {:.3g})", metric, change.ratio, change.low, change.high);
}

double medianOf(std::span<const double> values) {
  std::vector<double> copy(values.begin(), values.end());
  return detect::medianInPlace(copy);
}

/// The lines of the page; returns the line of each series that has one. `nights` are those of each timeline in the
/// store.
std::map<uint32_t, uint32_t> addLines(const detect::History& history, const detect::Judgement& judgement,
                                      const std::vector<SeriesKey>& keys,
                                      const std::vector<std::vector<uint32_t>>& nights,
                                      const detect::Settings& settings, Judged& judged) {
  std::map<uint32_t, uint32_t> lineOf;
  for (size_t t = 0; t < history.timelines.size(); ++t) {
    std::vector<MovedNight>& moved = judged.moved.emplace_back();
    for (uint32_t n = 1; n < nights[t].size(); ++n)
      if (auto what = detect::movedFacts(history.timelines[t], n - 1, n, true, settings); !what.empty())
        moved.push_back({nights[t][n], std::move(what)});
  }
  for (uint32_t i = 0; i < history.series.size(); ++i) {
    const detect::Series& series = history.series[i];
    detect::SeriesVerdict verdict = judgement.series[i];
    if (series.kind == detect::MetricKind::Digest || (!detect::isNoisy(series.kind) && !verdict.change)) continue;
    const std::vector<uint32_t>& own = nights[series.timeline];
    if (verdict.change) {
      verdict.change->lastGood = own[verdict.change->lastGood];
      verdict.change->firstBad = own[verdict.change->firstBad];
    }
    lineOf[i] = static_cast<uint32_t>(judged.lines.size());
    JudgedLine& line = judged.lines.emplace_back(JudgedLine{keys[i], {}, {}, std::move(verdict), series.timeline});
    line.key.driver.clear();
    for (size_t n = 0; n < series.size(); ++n) {
      line.nights.push_back(own[series.night(n)]);
      line.values.push_back(medianOf(series.runs(n)));
    }
  }
  return lineOf;
}

std::string quoted(const std::string& id) {
  std::string text = "'";
  for (const char c : id) text += c == '\'' ? "'\\''" : std::string(1, c);
  return text + "'";
}

/// " on cpu"; empty for numbers of other programs, which name no backend.
std::string placeText(const std::string& backend) { return backend.empty() ? "" : " on " + backend; }

std::string nightText(const detect::Night& night) {
  return night.commit.empty() ? night.date : fmt::format("{} ({})", night.date, night.commit.substr(0, 12));
}

std::string suspectOf(const detect::Finding& finding, const detect::Night& good, const detect::Night& bad) {
  if (!finding.moved.empty()) return fmt::format("the environment: {}", fmt::join(finding.moved, ", "));
  if (good.commit.empty() || bad.commit.empty()) return kUnknownSuspect;
  return good.commit == bad.commit ? "neither code nor environment changed" : kTheCode;
}

JudgedFinding describe(const detect::Finding& finding, const detect::History& history,
                       const detect::Judgement& judgement) {
  const detect::Series& most = history.series[finding.series.front()];
  const detect::Timeline& timeline = history.timelines[finding.timeline];
  JudgedFinding text;
  text.worse = finding.kind == detect::FindingKind::Worse;
  text.fresh = finding.fresh;
  text.what = fmt::format("{}: {} series{}{}{}, {}", judgedName(finding.kind), finding.series.size(),
                          finding.shared.op.empty() ? "" : " of ", finding.shared.op, placeText(most.key.backend),
                          changeText(judgement.series[finding.series.front()], most.key.metric));
  const detect::Night &good = timeline.nights[finding.lastGood], &bad = timeline.nights[finding.firstBad];
  text.since = fmt::format("between {} and {}", nightText(good), nightText(bad));
  text.suspect = suspectOf(finding, good, bad);
  for (const uint32_t index : finding.series) {
    const detect::Series& series = history.series[index];
    if (text.series.size() == kSeriesShown) {
      text.series.push_back(fmt::format("and {} more", finding.series.size() - kSeriesShown));
      break;
    }
    text.series.push_back(fmt::format("{}{}: {}", series.key.caseId, placeText(series.key.backend),
                                      changeText(judgement.series[index], series.key.metric)));
  }
  if (most.key.backend.empty()) return text;
  const bool isTime = most.kind == detect::MetricKind::Time;
  const std::string command = fmt::format("op-harness {} --backend {} --case {}", isTime ? "bench" : "check",
                                          most.key.backend, quoted(most.key.caseId));
  text.repeat = command;
  if (isTime && good.commit != bad.commit)
    text.compare = fmt::format(
        "git worktree add ../before {} && (cd ../before && ./setup && cmake --preset release && "
        "cmake --build --preset release) && {} --baseline "
        "../before/build/release/bin/op-harness --rounds 7",
        good.commit.substr(0, 12), command);
  return text;
}

}  // namespace

std::string Judged::summary() const {
  const auto isFresh = [](const JudgedFinding& finding) { return finding.fresh; };
  const auto fresh = std::count_if(findings.begin(), findings.end(), isFresh);
  const auto bad = std::count_if(findings.begin(), findings.end(),
                                 [&](const JudgedFinding& finding) { return finding.fresh && finding.worse; });
  return fmt::format("{} new finding{} ({} worse); {} series: {} worse, {} better, {} same, {} with insufficient data",
                     fresh, fresh == 1 ? "" : "s", bad, better + worse + same + insufficient, worse, better, same,
                     insufficient);
}

Result<Judged> judgeStore(const Store& store, const detect::Settings& settings) {
  OPKIT_ASSIGN(const std::vector<Night> nights, store.nights());
  std::vector<Environment> environments;
  OPKIT_ASSIGN(std::vector<Series> all,
               store.series({.recentNights = settings.recentNights, .fold = true}, environments));
  std::erase_if(all, [](const Series& series) { return series.key.metric == "status"; });
  return judgeSeries(nights, environments, all, settings);
}

detect::History historyOf(const std::vector<Night>& nights, const std::vector<Environment>& environments,
                          const std::vector<Series>& all) {
  return Joiner(nights, environments, all).joined();
}

Judged judgeSeries(const std::vector<Night>& nights, const std::vector<Environment>& environments,
                   const std::vector<Series>& all, const detect::Settings& settings) {
  Joiner joiner(nights, environments, all);
  const detect::History history = joiner.joined();
  const detect::Judgement judgement = detect::judge(history, settings);
  Judged judged;
  judged.halves = compareHalves(nights, all);
  if (!nights.empty()) judged.night = nights.back().name;
  const auto countOf = [&](detect::Verdict verdict) {
    size_t count = 0;
    for (size_t i = 0; i < judgement.series.size(); ++i)
      count += judgement.series[i].verdict == verdict ? joiner.alike()[i] : 0;
    return count;
  };
  judged.better = countOf(detect::Verdict::Better);
  judged.worse = countOf(detect::Verdict::Worse);
  judged.same = countOf(detect::Verdict::Same);
  judged.insufficient = countOf(detect::Verdict::InsufficientData);
  const auto lineOf = addLines(history, judgement, joiner.keys(), joiner.nightsOfTimelines(), settings, judged);
  judged.nights = nights;
  for (const detect::Finding& finding : judgement.findings) {
    JudgedFinding& text = judged.findings.emplace_back(describe(finding, history, judgement));
    for (const uint32_t index : finding.series)
      if (const auto line = lineOf.find(index); line != lineOf.end()) text.lines.push_back(line->second);
  }
  std::stable_sort(judged.findings.begin(), judged.findings.end(), [](const JudgedFinding& a, const JudgedFinding& b) {
    return std::pair(!a.fresh, !a.worse) < std::pair(!b.fresh, !b.worse);
  });
  return judged;
}

}  // namespace opkit::reports
