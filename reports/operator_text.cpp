#include "reports/operator_text.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "reports/report_data.h"

namespace opkit::reports {
namespace {

constexpr size_t kNightsShown = 60, kNightsAgo = 30;
constexpr size_t kReasonsListed = 12, kFailuresListed = 20, kTimesListed = 300, kMarksListed = 12;
constexpr size_t kLongestText = 1200, kLongestCommand = 4000, kLongestName = 40;  // characters

/// A change of a line over the nights.
struct Mark {
  size_t night = 0;
  bool isFound = false;  // by the detector; else the environment changed
  std::string text;
};

class OperatorWriter {
 public:
  OperatorWriter(const OperatorFacts& facts, const OperatorSources& sources, const Terminal& terminal)
      : facts_(facts), sources_(sources), terminal_(terminal) {}

  std::string text() {
    add(0, facts_.name);
    for (const BackendFacts& backend : facts_.backends) addBackend(backend);
    if (facts_.backends.empty()) add(2, "no case was checked");
    addFailures();
    addNotRun();
    addTimes();
    return std::move(text_);
  }

 private:
  void line(const std::string& text) {
    const size_t end = text.find_last_not_of(' ');
    text_ += text.substr(0, end == std::string::npos ? 0 : end + 1) + "\n";
  }
  void add(size_t indent, std::string_view text, std::string_view lead = "") {
    for (const std::string& one : terminal_.wrap(terminal_.cut(terminal_.plain(text), kLongestText), indent, lead))
      line(one);
  }
  /// An id on one line; what comes before it stays whole.
  void addId(size_t indent, const std::string& before, const std::string& id) {
    const size_t taken = std::min(indent + charactersOf(before), terminal_.columns - 1);
    line(std::string(indent, ' ') + before + terminal_.cut(terminal_.plain(id), terminal_.columns - taken));
  }
  void addMore(size_t all, size_t shown, std::string_view what) {
    if (all > shown) add(2, fmt::format("and {} more {}", all - shown, what));
  }

  void addBackend(const BackendFacts& facts) {
    add(4, facts.tally.sum(), fmt::format("  {}: ", terminal_.cut(terminal_.plain(facts.backend), kLongestName)));
    if (!(facts.margin <= 0))
      addId(4, fmt::format("worst share of the bound {} at ", formatPercent(facts.margin)), facts.worst);
    if (!(facts.ulp <= 0)) add(4, fmt::format("worst ULP {}", formatNumber(facts.ulp)));
    if (!facts.kernels.empty()) add(6, fmt::format("{}", fmt::join(facts.kernels, ", ")), "    kernels ");
  }

  void addFailures() {
    if (sources_.failures.empty()) return;
    line("");
    add(0, "Failures, one for each reason");
    for (size_t i = 0; i < std::min(sources_.failures.size(), kFailuresListed); ++i) addFailure(sources_.failures[i]);
    addMore(sources_.failures.size(), kFailuresListed, "reasons");
  }

  void addFailure(const Cause& cause) {
    const CaseRecord& first = *cause.cases.front();
    add(2, fmt::format("{} {}{}{}, {} on {}: {}", cause.cases.size(), nameOf(first.status),
                       first.failedCheck.empty() ? "" : " in ", first.failedCheck, first.kind, first.backend,
                       first.reason));
    if (first.diagnosis) add(4, "because " + first.diagnosis->text);
    addId(4, "", first.id);
    if (!first.repro.empty()) line("    repeat: " + terminal_.cut(terminal_.plain(first.repro), kLongestCommand));
  }

  void addNotRun() {
    if (facts_.notRun.empty()) return;
    line("");
    add(0, "What did not run");
    for (size_t i = 0; i < std::min(facts_.notRun.size(), kReasonsListed); ++i) {
      const NotRunFacts& one = facts_.notRun[i];
      add(4, fmt::format("{} case{}, {}: {}", one.count, one.count == 1 ? "" : "s", one.what, one.reason), "  - ");
    }
    addMore(facts_.notRun.size(), kReasonsListed, "reasons");
  }

  void addTimes() {
    if (facts_.times.empty()) return;
    line("");
    add(0, "Times: medians; of several process runs, the middle one by execute time");
    for (size_t i = 0; i < std::min(facts_.times.size(), kTimesListed); ++i) {
      const TimeFacts& one = facts_.times[i];
      if (i == 0 || one.id != facts_.times[i - 1].id) addId(2, "", one.id);
      addTime(one);
    }
    addMore(facts_.times.size(), kTimesListed, "timed cases");
  }

  void addTime(const TimeFacts& facts) {
    std::vector<std::string> figures;
    const auto figure = [&](double value, const std::string& text) {
      if (!std::isnan(value)) figures.push_back(text);
    };
    if (isFailure(facts.status)) figures.emplace_back(nameOf(facts.status));
    figure(facts.executeWall, "execute " + formatNs(facts.executeWall));
    figure(facts.executeDevice, "device " + formatNs(facts.executeDevice));
    figure(facts.gflops() > 0 ? 0 : NAN, formatNumber(facts.gflops()) + " GFLOP/s");
    figure(facts.gbs() > 0 ? 0 : NAN, formatNumber(facts.gbs()) + " GB/s");
    figure(facts.roofline, formatPercent(facts.roofline) + " of the roof");
    if (facts.runs.size() > 1) figures.push_back(fmt::format("{} process runs", facts.runs.size()));
    if (figures.empty()) figures.push_back(fmt::format("{}, not timed", nameOf(facts.status)));
    if (!facts.reason.empty()) figures.push_back(facts.reason);
    const std::string kernel = kernelName(facts.provider, facts.kernel);
    add(6, fmt::format("{}{}{}: {}", facts.backend, kernel.empty() ? "" : " ", kernel, fmt::join(figures, ", ")),
        "    - ");
    if (facts.history && sources_.history) addNights(facts, *facts.history);
  }

  std::vector<Mark> marksOf(const TimeFacts& facts, const NightTimes& times, size_t first) const {
    std::vector<Mark> marks;
    if (sources_.judged)
      for (const JudgedLine& one : sources_.judged->lines) {
        const auto& change = one.verdict.change;
        if (change && change->firstBad >= first && one.key.metric == times.metric && one.key.caseId == facts.id &&
            one.key.backend == facts.backend && one.key.provider == facts.provider && one.key.options.empty())
          marks.push_back(
              {change->firstBad, true,
               fmt::format("{:.3g} times as long ({:.3g} to {:.3g})", change->ratio, change->low, change->high)});
      }
    for (const NightTimes::Move& move : times.moves)
      if (move.night >= first) marks.push_back({move.night, false, move.facts + " changed"});
    std::ranges::stable_sort(marks, {}, &Mark::night);
    return marks;
  }

  /// The line over the nights, its marks, and both in words.
  void addNights(const TimeFacts& facts, const NightTimes& times) {
    const size_t all = times.values.size();
    size_t first = all - std::min(all, kNightsShown);
    while (first < all && !std::isfinite(times.values[first])) ++first;
    if (first == all) return;
    const std::span<const double> values = std::span(times.values).subspan(first);
    const std::vector<Mark> marks = marksOf(facts, times, first);
    line("      " + terminal_.levels(values));
    std::string under(values.size(), ' ');
    for (const Mark& mark : marks)
      if (char& place = under[mark.night - first]; place != '^') place = mark.isFound ? '^' : '|';
    if (!marks.empty()) line("      " + under);
    add(6, wordsOf(times, first));
    for (size_t i = 0; i < std::min(marks.size(), kMarksListed); ++i)
      add(8, fmt::format("{}: {}", nightName(marks[i].night), marks[i].text),
          marks[i].isFound ? "      ^ " : "      | ");
    if (marks.size() > kMarksListed) add(6, fmt::format("and {} more changes", marks.size() - kMarksListed));
  }

  std::string nightName(size_t night) const { return sources_.history->nights[night]; }

  /// "executeWall: first 2 ms on 2026-10-01, least ..., last ...; +12.0 % against 2026-10-31"
  std::string wordsOf(const NightTimes& times, size_t first) const {
    size_t least = first, last = first;
    for (size_t night = first; night < times.values.size(); ++night) {
      if (!std::isfinite(times.values[night])) continue;
      if (times.values[night] < times.values[least]) least = night;
      last = night;
    }
    const auto valueOn = [&](size_t night) {
      return fmt::format("{} on {}", formatNs(times.values[night]), nightName(night));
    };
    if (first == last) return fmt::format("{}: {}, the only night", times.metric, valueOn(last));
    std::string text =
        fmt::format("{}: first {}, least {}, last {}", times.metric, valueOn(first), valueOn(least), valueOn(last));
    for (size_t night = last + 1; night-- > 0;) {
      const double before = times.values[night];
      if (night + kNightsAgo > last || !std::isfinite(before)) continue;
      if (before > 0)
        text += fmt::format("; {:+.1f} % against {} ({})", 100 * (times.values[last] / before - 1), nightName(night),
                            last - night == kNightsAgo ? "30 nights ago" : "the last one 30 nights ago or earlier");
      break;
    }
    return text;
  }

  const OperatorFacts& facts_;
  const OperatorSources& sources_;
  const Terminal& terminal_;
  std::string text_;
};

}  // namespace

std::string operatorText(const OperatorFacts& facts, const OperatorSources& sources, const Terminal& terminal) {
  return OperatorWriter(facts, sources, terminal).text();
}

}  // namespace opkit::reports
