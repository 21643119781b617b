#include "reports/conformance_data.h"

#include <algorithm>
#include <map>

#include "reports/limits.h"
#include "reports/tally.h"

namespace opkit::reports {
namespace {

using kainjow::mustache::data;
using kainjow::mustache::list;
using kainjow::mustache::object;

/// Models of one backend.
struct ConformanceRow {
  Tally tally;
  size_t fallbacks = 0;  // passes with nodes on another backend
  // Of models that were not judged, by ending and reason.
  std::map<std::pair<std::string, std::string>, size_t> notJudged;

  void add(const CaseRecord& record) {
    tally.add(record.status);
    fallbacks += record.status == CaseStatus::Pass && !record.fallbacks.empty();
    if (!isExecuted(record.status)) ++notJudged[{nameOf(endingOf(record.status)), record.reason}];
  }

  /// The most frequent first.
  Rows reasons() const {
    std::vector<std::pair<size_t, std::pair<std::string, std::string>>> sorted;
    for (const auto& [why, count] : notJudged) sorted.emplace_back(count, why);
    std::ranges::stable_sort(sorted, std::ranges::greater(), [](const auto& one) { return one.first; });
    Rows rows;
    for (const auto& one : sorted)
      rows.add([&] {
        return object{
            {"count", std::to_string(one.first)}, {"ending", one.second.first}, {"reason", one.second.second}};
      });
    return rows;
  }
};

}  // namespace

data conformanceData(const Results& results) {
  std::map<std::string, ConformanceRow> rows;
  Tally all;
  for (const CaseRecord* record : results.ofKind("conformance")) {
    rows[record->backend].add(*record);
    all.add(record->status);
  }
  std::vector<Ending> shown = {Ending::Passed, Ending::Failed};
  for (size_t i = shown.size(); i < kEndingCount; ++i)
    if (all.count(static_cast<Ending>(i)) > 0) shown.push_back(static_cast<Ending>(i));
  list columns, backends;
  for (const Ending ending : shown) columns.push_back(object{{"name", nameOf(ending)}});
  for (const auto& [backend, row] : rows) {
    list counts;
    for (const Ending ending : shown) counts.push_back(object{{"count", std::to_string(row.tally.count(ending))}});
    Rows reasons = row.reasons();
    backends.push_back(object{{"backend", backend},
                              {"total", std::to_string(row.tally.total())},
                              {"counts", data(counts)},
                              {"fallbacks", std::to_string(row.fallbacks)},
                              {"left", data(reasons.count() > 0)},
                              {"more", reasons.more()},
                              {"reasons", reasons.take()}});
  }
  const bool any = !backends.empty();
  return object{{"any", data(any)}, {"columns", data(columns)}, {"backends", data(backends)}};
}

}  // namespace opkit::reports
