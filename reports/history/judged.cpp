#include "reports/history/judged.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

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
      measured_.push_back(&measured);
    }
    for (auto& [key, parts] : parts_) {
      history.series.push_back(join(parts));
      alike_.push_back(parts.front()->alike);
      options_.push_back(parts.front()->key.options);
    }
    return history;
  }

  /// Of each joined series, the number of series for which it stands.
  const std::vector<size_t>& alike() const { return alike_; }

  /// The change of a joined series.
  JudgedChange changeOf(const detect::History& history, size_t index, const detect::Change& change) const {
    const detect::Series& series = history.series[index];
    const detect::SeriesKey& key = series.key;
    JudgedChange judged{key.caseId, key.backend, key.provider, options_[index], key.metric, 0, ""};
    for (const auto& [night, position] : measured_[series.timeline]->position)
      if (position == change.firstBad) judged.night = night;
    judged.what = fmt::format("{:.3g} times as long ({:.3g} to {:.3g})", change.ratio, change.low, change.high);
    return judged;
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
  std::vector<std::string> options_;       // of joined series
  std::vector<const Measured*> measured_;  // by timeline
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

std::string quoted(const std::string& id) {
  std::string text = "'";
  for (const char c : id) text += c == '\'' ? "'\\''" : std::string(1, c);
  return text + "'";
}

JudgedFinding describe(const detect::Finding& finding, const detect::History& history,
                       const detect::Judgement& judgement) {
  const detect::Series& most = history.series[finding.series.front()];
  const detect::Timeline& timeline = history.timelines[finding.timeline];
  JudgedFinding text;
  text.worse = finding.kind == detect::FindingKind::Worse;
  text.fresh = finding.fresh;
  text.what = fmt::format("{}: {} series{}{} on {}, {}", judgedName(finding.kind), finding.series.size(),
                          finding.shared.op.empty() ? "" : " of ", finding.shared.op, most.key.backend,
                          changeText(judgement.series[finding.series.front()], most.key.metric));
  const detect::Night &good = timeline.nights[finding.lastGood], &bad = timeline.nights[finding.firstBad];
  text.since = fmt::format("between {} ({}) and {} ({})", good.date, good.commit.substr(0, 12), bad.date,
                           bad.commit.substr(0, 12));
  text.suspect = finding.moved.empty() ? good.commit == bad.commit ? "neither code nor environment changed" : kTheCode
                                       : fmt::format("the environment: {}", fmt::join(finding.moved, ", "));
  for (const uint32_t index : finding.series) {
    const detect::Series& series = history.series[index];
    if (text.series.size() == kSeriesShown) {
      text.series.push_back(fmt::format("and {} more", finding.series.size() - kSeriesShown));
      break;
    }
    text.series.push_back(fmt::format("{} on {}: {}", series.key.caseId, series.key.backend,
                                      changeText(judgement.series[index], series.key.metric)));
  }
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
  for (size_t i = 0; i < judgement.series.size(); ++i)
    if (const auto& change = judgement.series[i].change; change && history.series[i].kind == detect::MetricKind::Time)
      judged.changes.push_back(joiner.changeOf(history, i, *change));
  for (const detect::Finding& finding : judgement.findings)
    judged.findings.push_back(describe(finding, history, judgement));
  std::stable_sort(judged.findings.begin(), judged.findings.end(), [](const JudgedFinding& a, const JudgedFinding& b) {
    return std::pair(!a.fresh, !a.worse) < std::pair(!b.fresh, !b.worse);
  });
  return judged;
}

}  // namespace opkit::reports
