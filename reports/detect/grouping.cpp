#include "reports/detect/grouping.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <tuple>

namespace opkit::reports::detect {
namespace {

using Members = std::vector<uint32_t>;                      // indices of series
using Place = std::tuple<uint32_t, FindingKind, uint32_t>;  // timeline, kind, first bad night
using Places = std::map<Place, Members>;

constexpr std::array kFields = {&SeriesKey::op, &SeriesKey::backend, &SeriesKey::provider};
constexpr std::array kAllFields = {&SeriesKey::caseId,   &SeriesKey::op,    &SeriesKey::backend,
                                   &SeriesKey::provider, &SeriesKey::dtype, &SeriesKey::metric};

Places placesOf(const History& history, const std::vector<SeriesVerdict>& verdicts) {
  Places places;
  for (size_t i = 0; i < verdicts.size(); ++i) {
    const SeriesVerdict& verdict = verdicts[i];
    if (!verdict.change || verdict.bits == Bits::WithError) continue;
    const FindingKind kind = verdict.bits != Bits::None           ? FindingKind::Bits
                             : verdict.verdict == Verdict::Better ? FindingKind::Better
                                                                  : FindingKind::Worse;
    places[{history.series[i].timeline, kind, verdict.change->firstBad}].push_back(static_cast<uint32_t>(i));
  }
  return places;
}

/// Moves noisy series to a neighbouring night that holds more series, so that a split that is off by one joins its
/// group.
void joinNeighbours(const History& history, Places& places) {
  std::vector<Place> order;
  for (const auto& [place, members] : places) order.push_back(place);
  std::stable_sort(order.begin(), order.end(),
                   [&](const Place& a, const Place& b) { return places[a].size() > places[b].size(); });
  for (const Place& place : order)
    for (const uint32_t night : {std::get<2>(place) - 1, std::get<2>(place) + 1}) {
      const auto neighbour = places.find({std::get<0>(place), std::get<1>(place), night});
      Members& home = places[place];
      if (neighbour == places.end() || neighbour->second.size() > home.size()) continue;
      auto& from = neighbour->second;
      const auto stay =
          std::stable_partition(from.begin(), from.end(), [&](uint32_t i) { return !isNoisy(history.series[i].kind); });
      home.insert(home.end(), stay, from.end());
      from.erase(stay, from.end());
    }
}

/// The members that share the field value that most members have; at least one.
Members largestShare(const History& history, const Members& members) {
  Members best;
  for (const auto field : kFields) {
    std::map<std::string_view, Members> byValue;
    for (const uint32_t i : members) byValue[history.series[i].key.*field].push_back(i);
    for (auto& [value, sharing] : byValue)
      if (!value.empty() && sharing.size() > best.size()) best = sharing;
  }
  return best.empty() ? Members{members.front()} : best;
}

double sizeOf(const SeriesVerdict& verdict) {
  const double ratio = verdict.change->ratio;
  return ratio > 0 ? std::fabs(std::log(ratio)) : std::numeric_limits<double>::infinity();
}

void describe(const History& history, const std::vector<SeriesVerdict>& verdicts, Finding& finding) {
  std::stable_sort(finding.series.begin(), finding.series.end(),
                   [&](uint32_t a, uint32_t b) { return sizeOf(verdicts[a]) > sizeOf(verdicts[b]); });
  finding.shared = history.series[finding.series.front()].key;
  finding.lastGood = verdicts[finding.series.front()].change->lastGood;
  for (const uint32_t i : finding.series) {
    const Change& change = *verdicts[i].change;
    finding.fresh |= verdicts[i].fresh;
    // Series that are measured on few nights know the interval less well.
    if (change.firstBad == finding.firstBad) finding.lastGood = std::max(finding.lastGood, change.lastGood);
    for (const std::string& fact : change.moved)
      if (std::find(finding.moved.begin(), finding.moved.end(), fact) == finding.moved.end())
        finding.moved.push_back(fact);
    for (const auto field : kAllFields)
      if (finding.shared.*field != history.series[i].key.*field) (finding.shared.*field).clear();
  }
  finding.lastGood = std::min(finding.lastGood, finding.firstBad - 1);
  const auto& nights = history.timelines[finding.timeline].nights;
  finding.goodCommit = nights[finding.lastGood].commit;
  finding.badCommit = nights[finding.firstBad].commit;
}

}  // namespace

std::vector<Finding> groupChanges(const History& history, const std::vector<SeriesVerdict>& verdicts) {
  Places places = placesOf(history, verdicts);
  joinNeighbours(history, places);
  std::vector<Finding> findings;
  for (auto& [place, left] : places)
    while (!left.empty()) {
      Finding finding;
      std::tie(finding.timeline, finding.kind, finding.firstBad) = place;
      finding.series = largestShare(history, left);
      std::sort(finding.series.begin(), finding.series.end());
      std::erase_if(left,
                    [&](uint32_t i) { return std::binary_search(finding.series.begin(), finding.series.end(), i); });
      describe(history, verdicts, finding);
      findings.push_back(std::move(finding));
    }
  std::stable_sort(findings.begin(), findings.end(), [](const Finding& a, const Finding& b) {
    return std::tuple(!a.fresh, b.series.size()) < std::tuple(!b.fresh, a.series.size());
  });
  return findings;
}

}  // namespace opkit::reports::detect
