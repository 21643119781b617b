#include "reports/report_data.h"

#include <cmath>
#include <map>
#include <set>

namespace opkit::reports {
namespace {

using Json = nlohmann::json;
using kainjow::mustache::data;
using kainjow::mustache::list;
using kainjow::mustache::object;

const std::vector<std::string> kBad{"fail", "crash", "hang", "fallback", "mistrusted"};

bool isBad(const std::string& status) { return std::find(kBad.begin(), kBad.end(), status) != kBad.end(); }

data flag(bool value) { return data(value); }

std::string formatNumber(double value) {
  return std::isfinite(value) ? fmt::format("{:.3g}", value) : fmt::format("{}", value);
}

std::string formatPercent(double share) {
  return std::isfinite(share) ? fmt::format("{:.3g} %", 100 * share) : fmt::format("{}", share);
}

Json childOf(const Json& record, const std::string& field) {
  const auto found = record.find(field);
  return found == record.end() ? Json::object() : *found;
}

data runFacts(const Results& results) {
  list runs;
  for (const Run& run : results.runs) {
    object row;
    for (const char* field : {"command", "started", "commit", "compiler", "build", "host", "cpu", "cores", "seed"})
      row[field] = textOf(run.facts, field);
    row["dirty"] = flag(run.facts.value("dirty", false));
    row["cut"] = flag(!run.complete());
    row["done"] = fmt::format("{}{}", run.written, run.planned ? fmt::format(" of {}", *run.planned) : "");
    row["outcome"] = run.outcome.empty() ? std::string("no end was written") : run.outcome;
    runs.push_back(row);
  }
  return runs;
}

data warningsOf(const Results& results) {
  list warnings;
  for (const std::string& warning : results.warnings) warnings.push_back(object{{"text", warning}});
  return warnings;
}

data deviceFacts(const Results& results) {
  list devices;
  std::set<std::string> seen;
  for (const Json& device : results.devices) {
    if (!seen.insert(textOf(device, "backend") + textOf(device, "name") + textOf(device, "driver")).second) continue;
    object row;
    for (const char* field : {"backend", "name", "driver", "uuid"}) row[field] = textOf(device, field);
    row["software"] = flag(device.value("software", false));
    devices.push_back(row);
  }
  return devices;
}

struct Tally {
  std::map<std::string, size_t> byStatus;
  double worstMargin = 0;
  std::string worstId;

  void add(const Json& record) {
    ++byStatus[textOf(record, "status")];
    const double margin = numberOf(childOf(record, "accuracy"), "margin");
    if (!(margin <= worstMargin)) {
      worstMargin = margin;
      worstId = textOf(record, "id");
    }
  }
  size_t count(const std::string& status) const {
    const auto found = byStatus.find(status);
    return found == byStatus.end() ? 0 : found->second;
  }
  size_t bad() const {
    size_t sum = 0;
    for (const std::string& status : kBad) sum += count(status);
    return sum;
  }
};

object cellOf(const Tally* tally) {
  object cell;
  cell["empty"] = flag(tally == nullptr);
  if (!tally) return cell;
  cell["pass"] = std::to_string(tally->count("pass") + tally->count("xfail"));
  cell["bad"] = tally->bad() > 0 ? data(std::to_string(tally->bad())) : data(false);
  const size_t unsupported = tally->count("unsupported") + tally->count("skip") + tally->count("unproved");
  cell["unsupported"] = unsupported > 0 ? data(std::to_string(unsupported)) : data(false);
  cell["margin"] = formatPercent(tally->worstMargin);
  cell["worst"] = tally->worstId;
  cell["class"] = std::string(tally->bad() > 0 ? "bad" : tally->count("pass") > 0 ? "good" : "none");
  return cell;
}

/// Operator rows, one cell per backend and dtype.
data matrix(const Results& results) {
  std::map<std::string, std::map<std::string, Tally>> rows;
  std::set<std::string> columns;
  for (const Json* record : results.ofKind("check")) {
    const std::string dtype = textOf(*record, "dtype");
    const std::string column = textOf(*record, "backend") + (dtype.empty() ? "" : " " + dtype);
    columns.insert(column);
    rows[textOf(*record, "op")][column].add(*record);
  }
  list header, body;
  for (const std::string& column : columns) header.push_back(object{{"name", column}});
  for (const auto& [op, cells] : rows) {
    list row;
    for (const std::string& column : columns) {
      const auto found = cells.find(column);
      row.push_back(cellOf(found == cells.end() ? nullptr : &found->second));
    }
    body.push_back(object{{"op", op}, {"cells", data(row)}});
  }
  return object{{"columns", data(header)}, {"rows", data(body)}, {"any", flag(!rows.empty())}};
}

data failures(const Results& results) {
  list rows;
  for (const Json& record : results.cases) {
    const std::string status = textOf(record, "status");
    if (!isBad(status)) continue;
    rows.push_back(object{{"kind", textOf(record, "kind")},
                          {"id", textOf(record, "id")},
                          {"backend", textOf(record, "backend")},
                          {"status", status},
                          {"check", textOf(record, "failedCheck")},
                          {"reason", textOf(record, "reason")}});
  }
  const bool any = !rows.empty();
  return object{{"any", flag(any)}, {"count", std::to_string(rows.size())}, {"rows", data(rows)}};
}

/// "device, driver: command" of each run, by run and backend.
std::map<std::pair<std::string, std::string>, std::string> placesOf(const Results& results) {
  std::map<std::string, std::string> commands;
  for (const Run& run : results.runs) commands[textOf(run.facts, "run")] = textOf(run.facts, "command");
  std::map<std::pair<std::string, std::string>, std::string> places;
  for (const Json& device : results.devices) {
    const std::string run = textOf(device, "run");
    places[{run, textOf(device, "backend")}] =
        fmt::format("{}, {}: {}", textOf(device, "name"), textOf(device, "driver"), commands[run]);
  }
  return places;
}

/// Cases of one backend that pass in one run and fail in another: drivers, vector widths or masks differ.
data differences(const Results& results) {
  const auto places = placesOf(results);
  std::map<std::pair<std::string, std::string>, std::vector<const Json*>> cases;
  for (const Json* record : results.ofKind("check"))
    cases[{textOf(*record, "id"), textOf(*record, "backend")}].push_back(record);
  list rows;
  for (const auto& [key, records] : cases) {
    const auto bad = [](const Json* record) { return isBad(textOf(*record, "status")); };
    if (std::ranges::none_of(records, bad) || std::ranges::all_of(records, bad)) continue;
    for (const Json* record : records) {
      const auto place = places.find({textOf(*record, "run"), key.second});
      rows.push_back(object{{"id", key.first},
                            {"place", place == places.end() ? key.second : place->second},
                            {"status", textOf(*record, "status")},
                            {"bad", flag(bad(record))},
                            {"opinion", textOf(*record, "opinion")}});
    }
  }
  const bool any = !rows.empty();
  return object{{"any", flag(any)}, {"rows", data(rows)}};
}

std::string timeCell(const Json& times, const char* name) {
  const double median = numberOf(childOf(times, name), "median", -1);
  return median < 0 ? "" : formatNs(median);
}

data timings(const Results& results) {
  list rows;
  for (const Json* record : results.ofKind("bench")) {
    const Json times = childOf(*record, "times");
    const double executeNs = numberOf(childOf(times, "executeWall"), "median", -1);
    const double flops = numberOf(*record, "flops"), bytes = numberOf(*record, "bytes");
    object row{{"id", textOf(*record, "id")},
               {"backend", textOf(*record, "backend")},
               {"provider", textOf(*record, "provider")},
               {"status", textOf(*record, "status")},
               {"create", timeCell(times, "create")},
               {"cold", timeCell(times, "resizeCold")},
               {"warm", timeCell(times, "resizeWarm")},
               {"wall", timeCell(times, "executeWall")},
               {"device", timeCell(times, "executeDevice")},
               {"gflops", executeNs > 0 && flops > 0 ? formatNumber(flops / executeNs) : ""},
               {"gbs", executeNs > 0 && bytes > 0 ? formatNumber(bytes / executeNs) : ""}};
    rows.push_back(row);
  }
  const bool any = !rows.empty();
  return object{{"any", flag(any)}, {"rows", data(rows)}};
}

/// Shares of the processor's rates, the smallest first.
data roof(const Results& results) {
  std::vector<const Json*> records;
  for (const Json* record : results.ofKind("roof"))
    if (numberOf(*record, "roofline") > 0 || isBad(textOf(*record, "status"))) records.push_back(record);
  std::stable_sort(records.begin(), records.end(),
                   [](const Json* a, const Json* b) { return numberOf(*a, "roofline") < numberOf(*b, "roofline"); });
  list rows;
  for (const Json* record : records) {
    const std::string kernel = textOf(*record, "kernel"), reason = textOf(*record, "reason");
    const double ns = numberOf(childOf(childOf(*record, "times"), "executeKernel"), "min", -1);
    rows.push_back(object{{"id", textOf(*record, "id")},
                          {"threads", fmt::format("{:.0f}", numberOf(*record, "threads"))},
                          {"kernel", textOf(*record, "provider") + (kernel.empty() ? "" : "/" + kernel)},
                          {"time", ns < 0 ? "" : formatNs(ns)},
                          {"share", formatPercent(numberOf(*record, "roofline"))},
                          {"bound", textOf(*record, "roof")},
                          {"note", reason.empty() ? textOf(*record, "note") : reason},
                          {"bad", flag(isBad(textOf(*record, "status")))}});
  }
  const bool any = !rows.empty();
  return object{{"any", flag(any)}, {"rows", data(rows)}};
}

/// Counts per backend, and the reasons for what is not supported, most frequent first.
data conformance(const Results& results) {
  std::map<std::string, Tally> tallies;
  std::map<std::string, std::map<std::string, size_t>> reasons;
  std::map<std::string, size_t> fallbacks;
  for (const Json* record : results.ofKind("conformance")) {
    const std::string backend = textOf(*record, "backend");
    tallies[backend].add(*record);
    if (textOf(*record, "status") == "unsupported") ++reasons[backend][textOf(*record, "reason")];
    if (!childOf(*record, "fallbacks").empty()) ++fallbacks[backend];
  }
  list backends;
  for (const auto& [backend, tally] : tallies) {
    std::vector<std::pair<size_t, std::string>> sorted;
    for (const auto& [reason, count] : reasons[backend]) sorted.emplace_back(count, reason);
    std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    list reasonRows;
    for (const auto& [count, reason] : sorted)
      reasonRows.push_back(object{{"count", std::to_string(count)}, {"reason", reason}});
    size_t total = 0;
    for (const auto& [status, count] : tally.byStatus) total += count;
    backends.push_back(object{{"backend", backend},
                              {"total", std::to_string(total)},
                              {"pass", std::to_string(tally.count("pass"))},
                              {"bad", std::to_string(tally.bad())},
                              {"unsupported", std::to_string(tally.count("unsupported"))},
                              {"fallbacks", std::to_string(fallbacks[backend])},
                              {"reasons", data(reasonRows)}});
  }
  const bool any = !backends.empty();
  return object{{"any", flag(any)}, {"backends", data(backends)}};
}

data layersOf(const Json& record) {
  list rows;
  for (const Json& layer : childOf(record, "layers")) {
    const double nmse = numberOf(layer, "nmse");
    // One bar per layer on a log scale from 1e-16 (empty) to 1 (full).
    const double share = nmse > 0 ? std::clamp((std::log10(nmse) + 16) / 16, 0.0, 1.0) : 0;
    rows.push_back(object{{"tensor", textOf(layer, "tensor")},
                          {"op", textOf(layer, "op")},
                          {"status", textOf(layer, "status")},
                          {"maxAbs", formatNumber(numberOf(layer, "maxAbs"))},
                          {"maxUlp", formatNumber(numberOf(layer, "maxUlp"))},
                          {"nmse", formatNumber(nmse)},
                          {"bar", fmt::format("{:.0f}", 100 * share)},
                          {"bad", flag(isBad(textOf(layer, "status")))}});
  }
  return rows;
}

data models(const Results& results) {
  list rows;
  for (const Json* record : results.ofKind("model")) {
    const std::string status = textOf(*record, "status");
    rows.push_back(object{{"id", textOf(*record, "id")},
                          {"backend", textOf(*record, "backend")},
                          {"status", status},
                          {"bad", flag(isBad(status))},
                          {"reason", textOf(*record, "reason")},
                          {"layerCount", std::to_string(childOf(*record, "layers").size())},
                          {"layers", layersOf(*record)}});
  }
  const bool any = !rows.empty();
  return object{{"any", flag(any)}, {"rows", data(rows)}};
}

}  // namespace

std::string formatNs(double ns) {
  static constexpr std::pair<double, const char*> kUnits[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "µs"}};
  for (const auto& [scale, unit] : kUnits)
    if (ns >= scale) return fmt::format("{:.3g} {}", ns / scale, unit);
  return fmt::format("{:.3g} ns", ns);
}

size_t executedCases(const Results& results) {
  size_t executed = 0;
  for (const Json& record : results.cases) {
    const std::string status = textOf(record, "status");
    if (status != "unsupported" && status != "skip" && status != "unproved") ++executed;
  }
  return executed;
}

data reportData(const Results& results) {
  return object{{"runs", runFacts(results)},
                {"devices", deviceFacts(results)},
                {"failures", failures(results)},
                {"differences", differences(results)},
                {"matrix", matrix(results)},
                {"timings", timings(results)},
                {"roof", roof(results)},
                {"conformance", conformance(results)},
                {"models", models(results)},
                {"missing", results.complete() ? data(false) : data(results.missing())},
                {"warnings", warningsOf(results)},
                {"executed", std::to_string(executedCases(results))},
                {"total", std::to_string(results.cases.size())}};
}

}  // namespace opkit::reports
