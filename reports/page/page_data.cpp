#include "reports/page/page_data.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <map>
#include <vector>

#include "reports/limits.h"
#include "reports/operator_facts.h"
#include "reports/page/line_data.h"
#include "reports/tally.h"

namespace opkit::reports {
namespace {

using Json = nlohmann::json;
using Cases = std::vector<const CaseRecord*>;

/// [id, backend, status, share of the bound, ULP, kernel, reason]: the rows are many.
Json caseRow(const CaseRecord& record) {
  Json row = {record.id, record.backend, nameOf(record.status)};
  row.push_back(record.accuracy ? errorFigure(record.accuracy->margin) : nullptr);
  row.push_back(record.accuracy ? errorFigure(record.accuracy->maxUlp) : nullptr);
  row.push_back(kernelName(record.provider, record.kernel));
  if (!record.reason.empty()) row.push_back(record.reason);
  return row;
}

/// Failures first, so that they are not left out; takes the rows from `left`.
void addCases(Cases checks, size_t& left, Json& own) {
  const size_t shown = std::min({checks.size(), kCasesOfOneShown, left});
  if (shown < checks.size())
    std::stable_partition(checks.begin(), checks.end(),
                          [](const CaseRecord* record) { return isFailure(record->status); });
  Json rows = Json::array();
  for (size_t i = 0; i < shown; ++i) rows.push_back(caseRow(*checks[i]));
  own["cases"] = std::move(rows);
  if (shown < checks.size()) own["moreCases"] = checks.size() - shown;
  left -= shown;
}

Json accessesOf(const Cases& records) {
  Json rows = Json::array();
  for (const CaseRecord* record : records) {
    if (!record->access) continue;
    const AccessRecord& sums = *record->access;
    Json estimates = Json::object();
    for (const auto& [gpu, ns] : sums.estimateNs) {
      const auto limit = sums.limits.find(gpu);
      estimates[gpu] = {{"ns", figure(ns)}, {"limit", limit == sums.limits.end() ? "" : limit->second}};
    }
    rows.push_back({{"case", record->id},
                    {"device", record->device},
                    {"efficiency", figure(sums.efficiency)},
                    {"requests", figure(sums.requests)},
                    {"banks", figure(sums.bankPasses)},
                    {"groups", sums.groups},
                    {"estimates", std::move(estimates)}});
  }
  return rows;
}

Json mutationsOf(const std::vector<const MutantRecord*>& mutants) {
  std::map<std::string, std::map<std::string, size_t>> fates;  // by backend
  for (const MutantRecord* mutant : mutants) ++fates[mutant->backend][mutant->fate];
  return fates;
}

Json backendOf(const BackendFacts& facts) {
  return {
      {"backend", facts.backend}, {"cases", facts.tally.sum()},          {"bad", facts.tally.count(Ending::Failed) > 0},
      {"kernels", facts.kernels}, {"margin", errorFigure(facts.margin)}, {"ulp", errorFigure(facts.ulp)},
      {"worst", facts.worst}};
}

Json timeOf(const TimeFacts& facts) {
  Json runs = Json::array();
  for (const double run : facts.runs) runs.push_back(figure(run));
  Json row = {{"case", facts.id},
              {"backend", facts.backend},
              {"provider", facts.provider},
              {"kernel", facts.kernel},
              {"create", figure(facts.create)},
              {"resizeCold", figure(facts.resizeCold)},
              {"resizeWarm", figure(facts.resizeWarm)},
              {"executeWall", figure(facts.executeWall)},
              {"executeDevice", figure(facts.executeDevice)},
              {"gflops", figure(facts.gflops())},
              {"gbs", figure(facts.gbs())},
              {"roof", figure(facts.roofline)},
              {"intensity", figure(facts.flops / facts.bytes)},
              {"runs", std::move(runs)}};
  if (facts.status != CaseStatus::Pass) row["status"] = nameOf(facts.status);
  if (facts.samples)
    row["samples"] = {figure(facts.samples->low), figure(facts.samples->median), figure(facts.samples->high)};
  return row;
}

Json operatorsOf(const Results& results, const std::map<std::string, OperatorNote>& notes) {
  std::map<std::string, Cases> checks, accesses;
  std::map<std::string, std::vector<const MutantRecord*>> mutants;
  for (const CaseRecord* record : results.ofKind("check")) checks[record->op].push_back(record);
  for (const CaseRecord* record : results.ofKind("access")) accesses[record->op].push_back(record);
  for (const MutantRecord& mutant : results.mutants) mutants[mutant.subject].push_back(&mutant);
  Json operators = Json::object();
  std::vector<OperatorFacts> all = operatorFacts(results, nullptr);
  cutFacts(all);
  size_t left = kCasesShown;
  for (const OperatorFacts& facts : all) {
    Json& own = operators[facts.name];
    own = {{"backends", Json::array()}, {"notRun", Json::array()}, {"times", Json::array()}};
    for (const BackendFacts& backend : facts.backends) own["backends"].push_back(backendOf(backend));
    for (const NotRunFacts& reason : facts.notRun) own["notRun"].push_back({reason.count, reason.what, reason.reason});
    for (const TimeFacts& time : facts.times) own["times"].push_back(timeOf(time));
    if (const auto note = notes.find(facts.name); note != notes.end())
      own["summary"] = note->second.summary, own["page"] = note->second.page;
    addCases(checks[facts.name], left, own);
    if (facts.moreTimes > 0) own["moreTimes"] = facts.moreTimes;
    own["access"] = accessesOf(accesses[facts.name]);
    own["mutants"] = mutationsOf(mutants[facts.name]);
  }
  return operators;
}

/// Rates that the devices reach with plain loops, by backend; the best of the runs.
Json roofsOf(const Results& results) {
  std::map<std::string, std::pair<double, double>> best;
  for (const DeviceRecord& device : results.devices) {
    auto& [flops, bytes] = best[device.backend];
    if (device.roof) flops = std::max(flops, device.roof->flopsPerNs), bytes = std::max(bytes, device.roof->bytesPerNs);
    if (device.calibration)
      flops = std::max(flops, device.calibration->flopsPerNs), bytes = std::max(bytes, device.calibration->bytesPerNs);
  }
  Json roofs = Json::object();
  for (const auto& [backend, rates] : best)
    if (rates.first > 0 && rates.second > 0)
      roofs[backend] = {{"flops", figure(rates.first)}, {"bytes", figure(rates.second)}};
  return roofs;
}

Json findingsOf(const Judged& judged) {
  Json rows = Json::array();
  for (const JudgedFinding& finding : judged.findings)
    rows.push_back({{"what", finding.what},
                    {"since", finding.since},
                    {"suspect", finding.suspect},
                    {"repeat", finding.repeat},
                    {"worse", finding.worse},
                    {"fresh", finding.fresh},
                    {"lines", finding.lines}});
  return rows;
}

}  // namespace

Json pageData(const Results& results, const PageSources& sources) {
  Json data = {{"version", 1}, {"operators", operatorsOf(results, sources.notes)}, {"roofs", roofsOf(results)}};
  if (sources.judged) {
    data.update(lineData(*sources.judged));
    data["findings"] = findingsOf(*sources.judged);
  }
  return data;
}

std::string dataText(const Results& results, const PageSources& sources) {
  return pageData(results, sources).dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string packed(const std::string& text) {
  uLongf size = compressBound(text.size());
  std::string deflated(size, '\0');
  compress2(reinterpret_cast<Bytef*>(deflated.data()), &size, reinterpret_cast<const Bytef*>(text.data()), text.size(),
            Z_DEFAULT_COMPRESSION);
  deflated.resize(size);
  static constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string base64;
  base64.reserve((size + 2) / 3 * 4);
  for (size_t i = 0; i < size; i += 3) {
    uint32_t bits = 0;
    for (size_t k = 0; k < 3; ++k) bits = bits << 8 | (i + k < size ? static_cast<unsigned char>(deflated[i + k]) : 0U);
    for (size_t k = 0; k < 4; ++k) base64 += i + k < size + 1 ? kDigits[bits >> (18 - 6 * k) & 63] : '=';
  }
  return base64;
}

}  // namespace opkit::reports
