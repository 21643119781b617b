#include "reports/operator_views.h"

#include <cmath>

#include "reports/limits.h"
#include "reports/operator_facts.h"
#include "reports/report_data.h"
#include "reports/sparkline.h"

namespace opkit::reports {
namespace {

using kainjow::mustache::data;
using kainjow::mustache::list;
using kainjow::mustache::object;

constexpr size_t kReasonsShown = 4;

std::string timeCell(double ns) { return std::isnan(ns) ? "" : formatNs(ns); }
std::string numberCell(double value) { return value > 0 ? formatNumber(value) : ""; }
/// Of errors: NaN is shown.
bool isRecorded(double error) { return !(error <= 0); }

object backendRow(const BackendFacts& facts) {
  return {{"backend", facts.backend},
          {"sum", facts.tally.sum()},
          {"bad", data(facts.tally.count(Ending::Failed) > 0)},
          {"kernels", fmt::format("{}", fmt::join(facts.kernels, ", "))},
          {"margin", isRecorded(facts.margin) ? formatPercent(facts.margin) : ""},
          {"ulp", isRecorded(facts.ulp) ? formatNumber(facts.ulp) : ""},
          {"worst", facts.worst}};
}

list notRunRows(const std::vector<NotRunFacts>& all) {
  list rows;
  for (const NotRunFacts& one : all) {
    if (rows.size() == kReasonsShown) {
      rows.push_back(object{
          {"count", ""}, {"what", ""}, {"reason", fmt::format("and {} more reasons", all.size() - kReasonsShown)}});
      break;
    }
    rows.push_back(object{{"count", std::to_string(one.count)}, {"what", one.what}, {"reason", one.reason}});
  }
  return rows;
}

object timeRow(const TimeFacts& facts) {
  return {{"id", facts.id},
          {"backend", facts.backend},
          {"provider", kernelName(facts.provider, facts.kernel)},
          {"status", nameOf(facts.status)},
          {"create", timeCell(facts.create)},
          {"cold", timeCell(facts.resizeCold)},
          {"warm", timeCell(facts.resizeWarm)},
          {"wall", timeCell(facts.executeWall)},
          {"device", timeCell(facts.executeDevice)},
          {"gflops", numberCell(facts.gflops())},
          {"gbs", numberCell(facts.gbs())},
          {"roofline", facts.roofline > 0 ? formatPercent(facts.roofline) : ""},
          {"nights", facts.history ? sparkline(facts.history->values) : ""}};
}

}  // namespace

data operatorViews(const Results& results, const TimeHistory* history) {
  list views;
  std::vector<OperatorFacts> all = operatorFacts(results, history);
  const size_t left = cutFacts(all);
  for (const OperatorFacts& facts : all) {
    list backends, times;
    for (const BackendFacts& one : facts.backends) backends.push_back(backendRow(one));
    for (const TimeFacts& one : facts.times) times.push_back(timeRow(one));
    const bool isChecked = !backends.empty(), isTimed = !times.empty();
    views.push_back(object{{"name", facts.name},
                           {"checked", data(isChecked)},
                           {"backends", data(backends)},
                           {"notRun", data(notRunRows(facts.notRun))},
                           {"timed", data(isTimed)},
                           {"times", data(times)},
                           {"more", facts.moreTimes > 0 ? data(moreText(facts.moreTimes)) : data(false)}});
  }
  const bool any = !views.empty();
  return object{{"any", data(any)}, {"rows", data(views)}, {"left", left > 0 ? data(moreText(left)) : data(false)}};
}

}  // namespace opkit::reports
