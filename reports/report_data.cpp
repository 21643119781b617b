#include "reports/report_data.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <span>
#include <tuple>

#include "reports/causes.h"
#include "reports/conformance_data.h"
#include "reports/device_page.h"
#include "reports/limits.h"
#include "reports/operator_facts.h"
#include "reports/page/history_data.h"
#include "reports/page/matrix_data.h"
#include "reports/sparkline.h"
#include "reports/tally.h"

namespace opkit::reports {
namespace {

using kainjow::mustache::data;
using kainjow::mustache::list;
using kainjow::mustache::object;

data flag(bool value) { return data(value); }

/// "30 of 30"; "32, 2 of them unplanned"; "30" without a plan.
std::string linesOf(const Run& run) {
  if (!run.planned) return std::to_string(run.written);
  if (run.written <= *run.planned) return fmt::format("{} of {}", run.written, *run.planned);
  return fmt::format("{}, {} of them unplanned", run.written, run.written - *run.planned);
}

data runFacts(const Results& results) {
  list runs;
  for (const Run& run : std::span(results.runs).first(std::min(results.runs.size(), kRowsListed))) {
    const RunRecord& facts = run.facts;
    object row{{"command", facts.command},
               {"started", facts.started},
               {"commit", facts.commit},
               {"compiler", facts.compiler},
               {"build", facts.build},
               {"host", facts.host},
               {"cpu", facts.cpu},
               {"cores", std::to_string(facts.cores)},
               {"seed", std::to_string(facts.seed)},
               {"dirty", flag(facts.dirty)}};
    row["part"] = run.part.empty() ? std::string("all") : run.part;
    row["cut"] = flag(!run.complete());
    row["done"] = linesOf(run);
    row["outcome"] = run.outcome.empty()         ? "no end was written"
                     : run.outcome == "complete" ? "reached its end"
                                                 : run.outcome;
    runs.push_back(row);
  }
  return runs;
}

data warningsOf(const Results& results) {
  Rows warnings(kCasesListed);
  for (const std::string& warning : results.warnings) warnings.add([&] { return object{{"text", warning}}; });
  const data more = warnings.more();
  data shown = warnings.take();
  if (more.is_string()) shown.push_back(object{{"text", more.string_value()}});
  return shown;
}

/// Rates of plain shaders on the device; empty if no run measured them.
std::string roofOf(const Results& results, const DeviceRecord& device) {
  for (const DeviceRecord& each : results.devices) {
    if (!each.roof || each.name != device.name || each.driver != device.driver) continue;
    const DeviceRoofRecord& roof = *each.roof;
    return fmt::format("{:.3g} GFLOP/s, {:.3g} GB/s, launch {}{}", roof.flopsPerNs, roof.bytesPerNs,
                       formatNs(roof.launchNs),
                       roof.clockRatio == 0 ? "" : fmt::format(", clock {:.3f} of the host's", roof.clockRatio));
  }
  return "";
}

data deviceFacts(const Results& results) {
  list devices;
  std::set<std::string> seen;
  for (const DeviceRecord& device : results.devices) {
    if (!seen.insert(device.backend + device.name + device.driver).second) continue;
    devices.push_back(object{{"backend", device.backend},
                             {"name", device.name},
                             {"driver", device.driver},
                             {"uuid", device.uuid},
                             {"software", flag(device.software)},
                             {"roof", roofOf(results, device)}});
  }
  return devices;
}

/// One row for each cause, with its cases.
data failures(const Results& results) {
  list rows;
  const std::vector<Cause> causes = causesOf(results);
  for (const Cause& cause : std::span(causes).first(std::min(causes.size(), kCasesListed))) {
    const CaseRecord& first = *cause.cases.front();
    Rows cases(kCasesListed);
    for (const CaseRecord* one : cause.cases)
      cases.add([&] {
        return object{{"id", one->id},
                      {"reason", one->reason},
                      {"repro", one->repro},
                      {"rerun", one->rerun ? data(nameOf(*one->rerun)) : data(false)}};
      });
    rows.push_back(object{{"number", std::to_string(rows.size() + 1)},
                          {"count", std::to_string(cause.cases.size())},
                          {"map", errorPicture(first.map)},
                          {"diagnosis", first.diagnosis ? data(first.diagnosis->text) : data(false)},
                          {"several", flag(cause.cases.size() > 1)},
                          {"kind", first.kind},
                          {"operators", cause.operators()},
                          {"backend", first.backend},
                          {"status", nameOf(first.status)},
                          {"check", first.failedCheck.empty() ? data(false) : data(first.failedCheck)},
                          {"reason", first.reason},
                          {"id", first.id},
                          {"repro", first.repro},
                          {"more", cases.more()},
                          {"cases", cases.take()}});
  }
  const bool any = !rows.empty();
  const size_t left = causes.size() - rows.size();
  return object{{"any", flag(any)},
                {"rows", data(rows)},
                {"left", left > 0 ? data(fmt::format("and {} more reasons", left)) : data(false)}};
}

data peersOf(const PeerTimes* peers) {
  if (!peers) return data(false);
  data about{data::type::list}, rows{data::type::list};
  for (const std::string& line : peers->about) about.push_back(object{{"text", line}});
  for (const PeerTime& row : peers->rows)
    rows.push_back(object{{"network", row.network},
                          {"threads", row.threads},
                          {"theirs", row.theirs},
                          {"ours", row.ours},
                          {"ratio", row.threads.empty() ? "" : fmt::format("{:.2f}", row.ratio)},
                          {"above", data(row.ratio > 1)},
                          {"dearestOurs", row.dearestOurs},
                          {"dearestTheirs", row.dearestTheirs}});
  return object{{"summary", peers->summary()}, {"about", about}, {"rows", rows}};
}

data partsOf(const NightParts* parts) {
  if (!parts) return data(false);
  list rows;
  for (const NightPart& part : parts->rows)
    rows.push_back(object{{"name", part.name},
                          {"date", part.date.empty() ? "never" : part.date},
                          {"age", part.date.empty() ? "" : std::to_string(part.age)},
                          {"verdict", part.verdict},
                          {"bad", flag(part.verdict.starts_with("red"))}});
  return object{{"summary", parts->summary()}, {"rows", data(rows)}};
}

/// Failures, flakes and skips that expectation files name, with the reasons there.
data expectations(const Results& results) {
  Rows rows;
  size_t failed = 0;
  for (const CaseRecord& record : results.cases) {
    if (!record.expectation || isFailure(record.status)) continue;
    failed += record.status == CaseStatus::Expected;
    const bool ran = isExecuted(record.status);
    rows.add([&] {
      return object{{"kind", record.kind},
                    {"id", record.id},
                    {"backend", record.backend},
                    {"status", nameOf(record.status)},
                    {"found", ran ? fmt::format("{}: {}", nameOf(record.expectation->status), record.reason) : ""},
                    {"line", record.expectation->line},
                    {"reason", record.expectation->reason}};
    });
  }
  const bool any = rows.count() > 0;
  return object{{"any", flag(any)},
                {"failed", failed > 0 ? data(std::to_string(failed)) : data(false)},
                {"count", std::to_string(rows.count())},
                {"more", rows.more()},
                {"rows", rows.take()}};
}

/// "device, driver: command" of each run, by run and backend.
std::map<std::pair<std::string, std::string>, std::string> placesOf(const Results& results) {
  std::map<std::string, std::string> commands;
  for (const Run& run : results.runs) commands[run.facts.run] = run.facts.command;
  std::map<std::pair<std::string, std::string>, std::string> places;
  for (const DeviceRecord& device : results.devices)
    places[{device.run, device.backend}] = fmt::format("{}, {}: {}", device.name, device.driver, commands[device.run]);
  return places;
}

/// Cases of one backend that pass in one run and fail in another: drivers, vector widths or masks differ.
data differences(const Results& results) {
  const auto places = placesOf(results);
  std::map<std::pair<std::string, std::string>, std::vector<const CaseRecord*>> cases;
  for (const CaseRecord* record : results.ofKind("check")) cases[{record->id, record->backend}].push_back(record);
  Rows rows;
  for (const auto& [key, records] : cases) {
    const auto bad = [](const CaseRecord* record) {
      return isFailure(record->expectation ? record->expectation->status : record->status);
    };
    if (std::ranges::none_of(records, bad) || std::ranges::all_of(records, bad)) continue;
    for (const CaseRecord* record : records) {
      const auto place = places.find({record->run, record->backend});
      rows.add([&] {
        return object{{"id", record->id},
                      {"place", place == places.end() ? record->backend : place->second},
                      {"status", nameOf(record->status)},
                      {"bad", flag(bad(record))},
                      {"opinion", record->opinion}};
      });
    }
  }
  const bool any = rows.count() > 0;
  return object{{"any", flag(any)}, {"more", rows.more()}, {"rows", rows.take()}};
}

/// -1 if the record has none, or NaN, which no order takes.
double timeOf(const CaseRecord& record, const char* name, double TimeRecord::*figure) {
  const auto found = record.times.find(name);
  const double time = found == record.times.end() ? -1 : found->second.*figure;
  return std::isnan(time) ? -1 : time;
}

double orNone(double share) { return std::isnan(share) ? -1 : share; }

/// Shares of the processor's rates, the smallest first.
data roof(const Results& results) {
  std::vector<const CaseRecord*> records;
  for (const CaseRecord* record : results.ofKind("roof"))
    if (record->roofline > 0 || isFailure(record->status)) records.push_back(record);
  std::stable_sort(records.begin(), records.end(),
                   [](const CaseRecord* a, const CaseRecord* b) { return orNone(a->roofline) < orNone(b->roofline); });
  Rows rows;
  for (const CaseRecord* record : records) {
    const double ns = timeOf(*record, "executeKernel", &TimeRecord::min);
    rows.add([&] {
      return object{{"id", record->id},
                    {"threads", std::to_string(record->threads)},
                    {"kernel", record->provider + (record->kernel.empty() ? "" : "/" + record->kernel)},
                    {"time", ns < 0 ? "" : formatNs(ns)},
                    {"share", formatPercent(record->roofline)},
                    {"bound", record->roof},
                    {"note", record->reason.empty() ? record->note : record->reason},
                    {"bad", flag(isFailure(record->status))}};
    });
  }
  const bool any = rows.count() > 0;
  return object{{"any", flag(any)}, {"more", rows.more()}, {"rows", rows.take()}};
}

/// What kernels ask of a GPU's memory, the least efficient first.
data access(const Results& results) {
  std::vector<const CaseRecord*> records;
  for (const CaseRecord* record : results.ofKind("access"))
    if (record->access) records.push_back(record);
  std::ranges::stable_sort(records, {}, [](const CaseRecord* record) { return orNone(record->access->efficiency); });
  std::map<const CaseRecord*, EstimatedTime> timed;
  for (const EstimatedTime& one : estimatedTimes(results)) timed[one.access] = one;
  list rows;
  for (const CaseRecord* record : std::span(records).first(std::min(records.size(), kRowsListed))) {
    const AccessRecord& sums = *record->access;
    std::string estimates;
    for (const auto& [gpu, ns] : sums.estimateNs) {
      const auto limit = sums.limits.find(gpu);
      estimates += fmt::format("{}{} {} ({})", estimates.empty() ? "" : ", ", gpu, formatNs(ns),
                               limit == sums.limits.end() ? "" : limit->second);
    }
    rows.push_back(object{{"id", record->id},
                          {"device", record->device},
                          {"efficiency", fmt::format("{:.3f}", sums.efficiency)},
                          {"requests", fmt::format("{:.3f}", sums.requests)},
                          {"banks", fmt::format("{:.3f}", sums.bankPasses)},
                          {"groups", std::to_string(sums.groups)},
                          {"estimates", estimates},
                          {"time", timed.contains(record) ? formatNs(timed[record].timeNs) : ""},
                          {"ratio", timed.contains(record) ? formatNumber(timed[record].ratio()) : ""},
                          {"note", record->reason.empty() ? record->note : record->reason},
                          {"bad", flag(isFailure(record->status))}});
  }
  const bool any = !rows.empty();
  return object{{"any", flag(any)},
                {"more", records.size() > rows.size() ? data(moreText(records.size() - rows.size())) : data(false)},
                {"rows", data(rows)}};
}

data layersOf(const CaseRecord& record) {
  list rows;
  for (const LayerRecord& layer : std::span(record.layers).first(std::min(record.layers.size(), kRowsListed))) {
    // One bar per layer on a log scale from 1e-16 (empty) to 1 (full).
    const double share = layer.nmse > 0 ? std::clamp((std::log10(layer.nmse) + 16) / 16, 0.0, 1.0) : 0;
    rows.push_back(object{{"tensor", layer.tensor},
                          {"op", layer.op},
                          {"status", nameOf(layer.status)},
                          {"maxAbs", formatNumber(layer.maxAbs)},
                          {"maxUlp", formatNumber(layer.maxUlp)},
                          {"nmse", formatNumber(layer.nmse)},
                          {"bar", fmt::format("{:.0f}", 100 * share)},
                          {"bad", flag(isFailure(layer.status))}});
  }
  return rows;
}

data models(const Results& results) {
  Rows rows(kCasesListed);
  for (const CaseRecord* record : results.ofKind("model"))
    rows.add([&] {
      return object{{"id", record->id},
                    {"backend", record->backend},
                    {"status", nameOf(record->status)},
                    {"bad", flag(isFailure(record->status))},
                    {"reason", record->reason},
                    {"layerCount", std::to_string(record->layers.size())},
                    {"layers", layersOf(*record)}};
    });
  const bool any = rows.count() > 0;
  return object{{"any", flag(any)}, {"more", rows.more()}, {"rows", rows.take()}};
}

/// "2026-11-30, commit a1b2c3 with local changes: 229 operators on cpu (AMD EPYC) and vulkan (llvmpipe, software)."
std::string aboutOf(const Results& results) {
  if (results.runs.empty()) return "";
  const Run& first = results.runs.front();
  std::set<std::string> operators, devices;
  for (const CaseRecord& record : results.cases)
    if (!record.op.empty()) operators.insert(record.op);
  for (const DeviceRecord& device : results.devices)
    devices.insert(fmt::format("{} ({}{})", device.backend, device.name,
                               device.software && device.backend == "vulkan" ? ", software" : ""));
  return fmt::format("{}, commit {}{}: {} operator{} on {}.",
                     first.night.empty() ? first.facts.started.substr(0, 10) : first.night,
                     first.facts.commit.empty() ? "unknown" : first.facts.commit.substr(0, 12),
                     first.facts.dirty ? " with local changes" : "", operators.size(), operators.size() == 1 ? "" : "s",
                     devices.empty() ? "no device" : fmt::format("{}", fmt::join(devices, " and ")));
}

data headlineData(const Results& results, const Headlines& headlines) {
  const PlanSum sum = PlanSum::of(results);
  return object{{"verdict", headlines.verdict},
                {"about", aboutOf(results)},
                {"changes", headlines.changes},
                {"share", headlines.share},
                {"unplanned", flag(sum.any && sum.unplanned > 0)},
                {"green", flag(headlines.green)}};
}

}  // namespace

std::string percentEncoded(const std::string& text) {
  std::string encoded;
  for (const char c : text)
    if (std::isalnum(static_cast<unsigned char>(c)) || std::string_view("-_.!~*'()").find(c) != std::string_view::npos)
      encoded += c;
    else
      encoded += fmt::format("%{:02X}", static_cast<unsigned char>(c));
  return encoded;
}

std::string formatNumber(double value) {
  return std::isfinite(value) ? fmt::format("{:.3g}", value) : fmt::format("{}", value);
}

std::string formatPercent(double share) {
  return std::isfinite(share) ? fmt::format("{:.3g} %", 100 * share) : fmt::format("{}", share);
}

std::vector<const CaseRecord*> middleRuns(const std::vector<const CaseRecord*>& records) {
  std::map<std::tuple<std::string, std::string, std::string>, std::vector<const CaseRecord*>> runs;
  std::vector<std::vector<const CaseRecord*>*> inOrder;
  for (const CaseRecord* record : records) {
    auto& own = runs[{record->id, record->backend, record->provider}];
    if (own.empty()) inOrder.push_back(&own);
    own.push_back(record);
  }
  std::vector<const CaseRecord*> chosen;
  for (std::vector<const CaseRecord*>* own : inOrder) {
    const auto middle = own->begin() + static_cast<std::ptrdiff_t>(own->size() / 2);
    std::nth_element(own->begin(), middle, own->end(), [](const CaseRecord* a, const CaseRecord* b) {
      return timeOf(*a, "executeWall", &TimeRecord::median) < timeOf(*b, "executeWall", &TimeRecord::median);
    });
    chosen.push_back(*middle);
  }
  return chosen;
}

std::string formatNs(double ns) {
  static constexpr std::pair<double, const char*> kUnits[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "µs"}};
  for (const auto& [scale, unit] : kUnits)
    if (ns >= scale) return fmt::format("{:.3g} {}", ns / scale, unit);
  return fmt::format("{:.3g} ns", ns);
}

object reportData(const Results& results, const PageSources& sources) {
  const Nights* const nights = sources.nightsOrNull();
  const Judged* const judged = sources.judgedOrNull();
  return object{{"headlines",
                 headlineData(results, sources.headlines ? *sources.headlines : headlinesOf(results, nights, judged))},
                {"foreign", flag(sources.headlines.has_value())},
                {"runs", runFacts(results)},
                {"verdict", findingsData(judged)},
                {"history", nightsData(nights)},
                {"devices", deviceFacts(results)},
                {"parts", partsOf(sources.parts ? &*sources.parts : nullptr)},
                {"peers", peersOf(sources.peers ? &*sources.peers : nullptr)},
                {"failures", failures(results)},
                {"expectations", expectations(results)},
                {"differences", differences(results)},
                {"matrix", matrixData(results)},
                {"operators", operatorIndex(results)},
                {"roof", roof(results)},
                {"access", access(results)},
                {"conformance", conformanceData(results)},
                {"models", models(results)},
                {"warnings", warningsOf(results)}};
}

}  // namespace opkit::reports
