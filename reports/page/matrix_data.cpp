#include "reports/page/matrix_data.h"

#include <fmt/format.h>

#include <map>
#include <set>
#include <string>

#include "reports/limits.h"
#include "reports/operator_facts.h"
#include "reports/report_data.h"
#include "reports/tally.h"

namespace opkit::reports {
namespace {

using kainjow::mustache::data;
using kainjow::mustache::list;
using kainjow::mustache::object;

constexpr size_t kColumnsShown = 64;

/// The endings that occurred and are no pass, each with its name.
list otherEndings(const Tally& tally) {
  list others;
  for (size_t i = 0; i < kEndingCount; ++i) {
    const auto ending = static_cast<Ending>(i);
    const size_t number = tally.count(ending);
    if (ending == Ending::Passed || number == 0) continue;
    others.push_back(
        object{{"count", std::to_string(number)}, {"name", nameOf(ending)}, {"bad", data(ending == Ending::Failed)}});
  }
  return others;
}

/// The cases of one operator on one backend with one dtype.
struct MatrixCell {
  Tally tally;
  double worstMargin = 0;
  std::string worstId;

  void add(const CaseRecord& record) {
    tally.add(record.status);
    const double margin = record.accuracy ? record.accuracy->margin : 0;
    if (!isWorse(margin, worstMargin)) return;
    worstMargin = margin;
    worstId = record.id;
  }
};

object cellOf(const MatrixCell* cell) {
  object row;
  row["empty"] = data(cell == nullptr);
  if (!cell) return row;
  const size_t passed = cell->tally.count(Ending::Passed);
  row["pass"] = std::to_string(passed);
  row["others"] = data(otherEndings(cell->tally));
  row["margin"] = formatPercent(cell->worstMargin);
  row["worst"] = cell->worstId;
  row["class"] = std::string(cell->tally.count(Ending::Failed) > 0 ? "bad" : passed > 0 ? "good" : "none");
  return row;
}

}  // namespace

data matrixData(const Results& results) {
  std::map<std::string, std::map<std::string, MatrixCell>> rows;
  std::set<std::string> columns;
  for (const CaseRecord* record : results.ofKind("check")) {
    if (record->op.empty()) continue;  // about no operator, such as a line of an expectation file
    const std::string column = record->backend + (record->dtype.empty() ? "" : " " + record->dtype);
    columns.insert(column);
    rows[record->op][column].add(*record);
  }
  while (columns.size() > kColumnsShown) columns.erase(std::prev(columns.end()));
  list header, body;
  for (const std::string& column : columns) header.push_back(object{{"name", column}});
  for (const auto& [op, cells] : rows) {
    if (body.size() == kMostOperators) break;
    list row;
    for (const std::string& column : columns) {
      const auto found = cells.find(column);
      row.push_back(cellOf(found == cells.end() ? nullptr : &found->second));
    }
    body.push_back(object{{"op", op}, {"anchor", percentEncoded(op)}, {"cells", data(row)}});
  }
  const data more = rows.size() > body.size() ? data(moreText(rows.size() - body.size())) : data(false);
  return object{{"more", more}, {"columns", data(header)}, {"rows", data(body)}, {"any", data(!rows.empty())}};
}

data operatorIndex(const Results& results) {
  std::set<std::string> names;
  for (const CaseRecord& record : results.cases)
    if (!record.op.empty() && (record.kind == "check" || record.kind == "bench")) names.insert(record.op);
  Rows rows(kMostOperators);
  for (const std::string& name : names)
    rows.add([&] { return object{{"name", name}, {"anchor", percentEncoded(name)}}; });
  return object{{"any", data(rows.count() > 0)}, {"more", rows.more()}, {"rows", rows.take()}};
}

}  // namespace opkit::reports
