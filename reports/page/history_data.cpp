#include "reports/page/history_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "reports/limits.h"
#include "reports/report_data.h"
#include "reports/sparkline.h"

namespace opkit::reports {
namespace {

using kainjow::mustache::data;
using kainjow::mustache::list;
using kainjow::mustache::object;

constexpr size_t kVanishedShown = 50;

/// The line of the series that moved most, with a link to its operator's view.
data lineOf(const JudgedFinding& finding, const Judged& judged) {
  if (finding.lines.empty()) return data(false);
  const JudgedLine& line = judged.lines[finding.lines.front()];
  std::vector<double> values(judged.nights.size(), NAN);
  for (size_t i = 0; i < line.nights.size(); ++i) values[line.nights[i]] = line.values[i];
  const SeriesKey& key = line.key;
  return object{{"hash", fmt::format("#{}/{}/{}/{}", percentEncoded(key.op), percentEncoded(key.caseId),
                                     percentEncoded(key.backend), percentEncoded(key.metric))},
                {"picture", sparkline(values)}};
}

data vanishedOf(const std::vector<Vanished>& vanished) {
  list rows;
  for (size_t i = 0; i < std::min(vanished.size(), kVanishedShown); ++i) {
    const Vanished& one = vanished[i];
    rows.push_back(object{{"kind", one.kind},
                          {"id", one.caseId},
                          {"backend", one.backend},
                          {"options", one.options},
                          {"last", one.lastNight},
                          {"measured", fmt::format("{} of {}", one.measured, one.compared)},
                          {"repeat", one.repeat}});
  }
  const bool any = !rows.empty(), more = rows.size() < vanished.size();
  return object{{"any", data(any)},
                {"rows", data(rows)},
                {"more", more ? data(std::to_string(vanished.size() - rows.size())) : data(false)}};
}

}  // namespace

data findingsData(const Judged* judged) {
  if (!judged) return data(false);
  list findings;
  for (const JudgedFinding& finding : judged->findings) {
    list series;
    for (const std::string& one : finding.series) series.push_back(object{{"text", one}});
    findings.push_back(object{{"number", std::to_string(findings.size() + 1)},
                              {"line", lineOf(finding, *judged)},
                              {"what", finding.what},
                              {"since", finding.since},
                              {"suspect", finding.suspect},
                              {"repeat", finding.repeat},
                              {"compare", finding.compare.empty() ? data(false) : data(finding.compare)},
                              {"series", data(series)},
                              {"fresh", data(finding.fresh)},
                              {"worse", data(finding.worse)}});
  }
  const bool any = !findings.empty();
  list alarms;
  for (const std::string& alarm : judged->halves.differ) alarms.push_back(object{{"text", alarm}});
  return object{
      {"any", data(any)}, {"findings", data(findings)}, {"halves", judged->halves.summary()}, {"alarms", data(alarms)}};
}

data nightsData(const Nights* nights) {
  if (!nights) return data(false);
  list rows;
  Rows changes;
  for (const NightRow& night : nights->rows)
    rows.push_back(object{{"name", night.name},
                          {"commit", night.commit.substr(0, 12)},
                          {"dirty", data(night.dirty)},
                          {"runs", std::to_string(night.runs)},
                          {"recorded", std::to_string(night.recorded)},
                          {"failed", std::to_string(night.failed)},
                          {"end", night.end()},
                          {"cut", data(night.cut > 0)},
                          {"bad", data(night.failed > 0)}});
  for (const StatusChange& change : nights->changes)
    changes.add([&] {
      return object{{"id", change.caseId},     {"kind", change.kind},        {"backend", change.backend},
                    {"before", change.before}, {"after", change.after},      {"reason", change.reason},
                    {"repro", change.repro},   {"worse", data(change.worse)}};
    });
  const bool any = changes.count() > 0;
  return object{{"nights", data(rows)},
                {"more", changes.more()},
                {"changes", changes.take()},
                {"any", data(any)},
                {"vanished", vanishedOf(nights->vanished)}};
}

}  // namespace opkit::reports
