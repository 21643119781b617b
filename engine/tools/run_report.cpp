#include "engine/tools/run_report.h"

#include "engine/base/printable.h"
#include "engine/graph/pass.h"
#include "engine/tensor/objects.h"

#include "engine/tools/cli.h"
#include "engine/tools/run_values.h"

namespace opkit {
namespace {

using cli::formatNs;
using cli::jsonNumber;

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

std::string typeOf(const Placement& row) { return row.raster ? row.type + " (raster)" : row.type; }

/// Time by the device's clock if there is one, else by the host's.
double timeOf(const Placement& row) { return row.deviceNs >= 0 ? row.deviceNs : row.hostNs; }

/// "12.3 GFLOP/s"; "-" for nothing in no time.
std::string rate(double amount, double ns, const char* unit) {
  return amount > 0 && ns > 0 ? fmt::format("{:.3g} {}", amount / ns, unit) : "-";
}

/// Share of the device's peak for this work; nullopt if the peak or the time is unknown.
std::optional<double> peakShare(const Placement& row, const PeaksOf& peaks) {
  const auto found = peaks.find(row.backend);
  if (found == peaks.end() || timeOf(row) <= 0 || row.type == "Copy") return std::nullopt;
  const double share =
      found->second.share(row.flops, static_cast<double>(row.bytesRead + row.bytesWritten), timeOf(row));
  return share > 0 ? std::optional(share) : std::nullopt;
}

std::string whereOf(const Placement& row) {
  return row.provider.empty() ? row.backend : row.backend + "/" + row.provider;
}

size_t widestType(const RunStep& step) {
  size_t width = 4;
  for (const Placement& row : step.placement) width = std::max(width, typeOf(row).size());
  return width;
}

struct Total {
  double ns = 0;
  size_t count = 0;
};

void printTotals(const std::vector<Placement>& placement, double sum) {
  std::map<std::string, Total> byType;
  for (const Placement& row : placement) {
    if (timeOf(row) < 0) continue;
    byType[typeOf(row)].ns += timeOf(row);
    ++byType[typeOf(row)].count;
  }
  std::vector<std::pair<std::string, Total>> sorted(byType.begin(), byType.end());
  std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.second.ns > b.second.ns; });
  fmt::print("by operator:\n");
  for (const auto& [type, total] : sorted)
    fmt::print("  {:>10}  {:5.1f} %  {} x {}\n", formatNs(total.ns), 100 * total.ns / std::max(sum, 1.0), total.count,
               type);
}

/// Commands, and bytes that copies moved to it, per backend.
void printPlacementTotals(const RunStep& step) {
  struct Sum {
    size_t commands = 0, copies = 0, bytes = 0, fallbacks = 0;
  };
  std::map<std::string, Sum> sums;
  for (const Placement& row : step.placement) {
    Sum& sum = sums[row.backend];
    ++(row.type == "Copy" ? sum.copies : sum.commands);
    sum.bytes += row.copiedBytes;
    sum.fallbacks += row.fellBack ? 1 : 0;
  }
  for (const auto& [backend, sum] : sums)
    fmt::print("  total {}: {} commands ({} fallbacks), {} copies to it of {} bytes\n", backend, sum.commands,
               sum.fallbacks, sum.copies, sum.bytes);
}

/// The structure of a value, and the first strings.
std::string textOf(const Tensor& value) {
  constexpr size_t kMost = 8;
  std::string text = describe(value);
  if (value.desc.dtype != DType::String) return text;
  const std::vector<std::string>& strings = stringsOf(value);
  for (size_t i = 0; i < std::min(strings.size(), kMost); ++i)
    text += fmt::format("{} '{}'", i == 0 ? ":" : ",", printable(strings[i]));
  return strings.size() > kMost ? text + ", ..." : text;
}

}  // namespace

void printDevice(const DeviceInfo& device) {
  fmt::print("backend {}: {}{}\n", device.backend, device.name, device.software ? " (software device)" : "");
}

void printStep(const RunStep& step) {
  for (const std::string& input : step.inputs) fmt::print("input  {}\n", printable(input));
  for (const auto& [name, tensor] : step.outputs) {
    if (isObject(tensor.desc.dtype)) {
      fmt::print("output {} {}\n", printable(name), textOf(tensor));
      continue;
    }
    const TensorSummary summary = summarize(tensor);
    fmt::print("output {} {}: min {:.6g}, max {:.6g}, mean {:.6g}{}\n", printable(name), tensor.desc.toString(),
               summary.minimum, summary.maximum, summary.mean,
               summary.nans > 0 ? fmt::format(", {} NaN", summary.nans) : "");
  }
  const auto [fastest, slowest] = std::minmax_element(step.runNs.begin(), step.runNs.end());
  fmt::print("resize {}, run {}", formatNs(step.resizeNs), formatNs(median(step.runNs)));
  if (step.runNs.size() > 1)
    fmt::print(" (median of {}; {} to {})", step.runNs.size(), formatNs(*fastest), formatNs(*slowest));
  fmt::print("\n");
}

void printPasses(const Interpreter& interpreter) {
  for (const auto& pass : interpreter.registry().passes()) {
    std::string changes = "at each resize";
    if (pass->position == GraphPass::Position::BeforeLowering) {
      changes = "off";
      for (const PassCount& count : interpreter.passCounts())
        if (count.name == pass->name) changes = fmt::format("{} changes", count.changes);
    }
    fmt::print("pass {:20} {:16} {:16} {}\n", pass->name, nameOf(pass->position), changes, pass->summary);
  }
}

void printPlacement(const RunStep& step) {
  const size_t width = widestType(step);
  fmt::print("placement of {} commands; {} nodes folded to constants; planned memory {} bytes, {} at least\n",
             step.placement.size(), step.statistics.foldedNodes, step.statistics.plannedPeakBytes,
             step.statistics.lowerBoundBytes);
  if (step.statistics.removedRasters > 0)
    fmt::print("region fusion: {} copies saved; {} regions in the fused rasters\n", step.statistics.removedRasters,
               step.statistics.fusedRegions);
  if (step.statistics.stages > 1) fmt::print("stages: {}\n", step.statistics.stages);
  if (step.statistics.partialViews > 0) fmt::print("partial views: {}\n", step.statistics.partialViews);
  if (step.statistics.loopRegions > 0) fmt::print("loop regions: {}\n", step.statistics.loopRegions);
  for (const Placement& row : step.placement) {
    fmt::print("  {:{}}  {:20}  {}  {}{}{}\n", typeOf(row), width, whereOf(row), printable(row.node),
               printable(row.outputs), row.copiedBytes > 0 ? fmt::format("  {} bytes copied", row.copiedBytes) : "",
               row.fellBack ? "  (fallback)" : "");
    if (!row.cost.empty() && row.refusals.empty()) fmt::print("  {:{}}    by cost: {}\n", "", width, row.cost);
    for (const Refusal& refusal : row.refusals)
      fmt::print("  {:{}}    not {}: {}\n", "", width, refusal.provider, printable(refusal.reason));
  }
  printPlacementTotals(step);
  const CostEstimate& estimate = step.statistics.estimate;
  if (estimate.chosenNs >= 0)
    fmt::print("by cost: {} expected, {} with all on {}, {} with all on cpu; {} measurements made\n",
               formatNs(estimate.chosenNs), formatNs(estimate.allMainNs), step.statistics.memory.front().backend,
               formatNs(estimate.allOtherNs), step.measurements);
}

void printProfile(const RunStep& step, const PeaksOf& peaks) {
  std::vector<const Placement*> rows;
  double sum = 0;
  for (const Placement& row : step.placement) {
    rows.push_back(&row);
    sum += std::max(timeOf(row), 0.0);
  }
  std::stable_sort(rows.begin(), rows.end(), [](const auto* a, const auto* b) { return timeOf(*a) > timeOf(*b); });
  const size_t width = widestType(step);
  fmt::print("profile of the last run, {} in {} commands; memory {} bytes at the peak, {} at least\n", formatNs(sum),
             rows.size(), step.statistics.plannedPeakBytes, step.statistics.lowerBoundBytes);
  for (const auto& [backend, peak] : peaks)
    fmt::print("{} at best: {:.3g} GFLOP/s; {:.3g} GB/s from caches, {:.3g} GB/s from memory, measured\n", backend,
               peak.flopsPerNs, peak.bytesPerNs(0), peak.bytesPerNs());
  for (const Placement* row : rows) {
    const auto share = peakShare(*row, peaks);
    fmt::print("  {:>10} {:6}  {:5.1f} %  {:>14}  {:>10}  {:>13}  {:{}}  {}  {}\n",
               timeOf(*row) < 0 ? "-" : formatNs(timeOf(*row)), row->deviceNs >= 0 ? "device" : "host",
               100 * std::max(timeOf(*row), 0.0) / std::max(sum, 1.0), rate(row->flops, timeOf(*row), "GFLOP/s"),
               rate(static_cast<double>(row->bytesRead + row->bytesWritten), timeOf(*row), "GB/s"),
               share ? fmt::format("{:.1f} % of peak", 100 * *share) : "-", typeOf(*row), width, printable(row->node),
               printable(row->outputs));
  }
  printTotals(step.placement, sum);
}

void printMemory(const RunStep& step) {
  for (const MemoryStatistics& memory : step.statistics.memory)
    fmt::print(
        "memory on {}: peak {} bytes, {} at least ({:.1f} % above); arena {}, constants {}, largest scratch {}; {} "
        "outputs in place\n",
        memory.backend, memory.plannedPeakBytes, memory.lowerBoundBytes,
        100.0 * static_cast<double>(memory.plannedPeakBytes - memory.lowerBoundBytes) /
            static_cast<double>(std::max<size_t>(memory.lowerBoundBytes, 1)),
        memory.arenaBytes, memory.constantBytes, memory.largestScratchBytes, step.statistics.inPlace);
  fmt::print("plans: {} made, {} found again, {} kept; runs on {}{}\n", step.statistics.plansMade,
             step.statistics.plansFound, step.statistics.plansKept, step.statistics.runsOn,
             step.statistics.moveError.empty() ? "" : ": " + printable(step.statistics.moveError));
}

nlohmann::json deviceJson(const DeviceInfo& device) {
  return {{"backend", device.backend}, {"name", device.name},         {"driver", device.driver},
          {"uuid", device.uuid},       {"software", device.software}, {"index", device.index}};
}

nlohmann::json peaksJson(const PeaksOf& peaks) {
  nlohmann::json json = nlohmann::json::object();
  for (const auto& [backend, peak] : peaks) {
    nlohmann::json bandwidths = nlohmann::json::array();
    for (const auto& each : peak.bandwidths)
      bandwidths.push_back({{"bytes", each.bytes}, {"bytesPerNs", each.bytesPerNs}});
    json[backend] = {{"flopsPerNs", peak.flopsPerNs}, {"bandwidths", bandwidths}};
  }
  return json;
}

nlohmann::json stepJson(const RunStep& step, const PeaksOf& peaks) {
  nlohmann::json outputs = nlohmann::json::array(), placement = nlohmann::json::array();
  for (const auto& [name, tensor] : step.outputs) {
    if (isObject(tensor.desc.dtype)) {
      outputs.push_back({{"name", name}, {"desc", describe(tensor)}});
      continue;
    }
    const TensorSummary summary = summarize(tensor);
    outputs.push_back({{"name", name},
                       {"desc", tensor.desc.toString()},
                       {"min", jsonNumber(summary.minimum)},
                       {"max", jsonNumber(summary.maximum)},
                       {"mean", jsonNumber(summary.mean)},
                       {"nan", summary.nans}});
  }
  for (const Placement& row : step.placement) {
    nlohmann::json refusals = nlohmann::json::array();
    for (const Refusal& refusal : row.refusals)
      refusals.push_back({{"provider", refusal.provider}, {"reason", refusal.reason}});
    nlohmann::json entry = {{"node", row.node},         {"type", row.type},
                            {"raster", row.raster},     {"backend", row.backend},
                            {"provider", row.provider}, {"fellBack", row.fellBack},
                            {"refusals", refusals},     {"copiedBytes", row.copiedBytes},
                            {"outputs", row.outputs}};
    entry["flops"] = row.flops;
    entry["bytesRead"] = row.bytesRead;
    entry["bytesWritten"] = row.bytesWritten;
    if (row.deviceNs >= 0) entry["deviceNs"] = row.deviceNs;
    if (row.hostNs >= 0) entry["hostNs"] = row.hostNs;
    if (const auto share = peakShare(row, peaks)) entry["peakShare"] = *share;
    if (!row.cost.empty()) entry["cost"] = row.cost;
    placement.push_back(std::move(entry));
  }
  return {{"inputs", step.inputs},
          {"outputs", outputs},
          {"resizeNs", step.resizeNs},
          {"runNs", step.runNs},
          {"placement", placement},
          {"plannedPeakBytes", step.statistics.plannedPeakBytes},
          {"lowerBoundBytes", step.statistics.lowerBoundBytes},
          {"arenaBytes", step.statistics.memory.empty() ? 0 : step.statistics.memory[0].arenaBytes},
          {"constantBytes", step.statistics.memory.empty() ? 0 : step.statistics.memory[0].constantBytes},
          {"foldedNodes", step.statistics.foldedNodes},
          {"removedRasters", step.statistics.removedRasters},
          {"fusedRegions", step.statistics.fusedRegions},
          {"partialViews", step.statistics.partialViews},
          {"loopRegions", step.statistics.loopRegions},
          {"executionsCreated", step.statistics.executionsCreated},
          {"measurements", step.measurements},
          {"runsOn", step.statistics.runsOn},
          {"estimate",
           {{"chosenNs", step.statistics.estimate.chosenNs},
            {"allMainNs", step.statistics.estimate.allMainNs},
            {"allOtherNs", step.statistics.estimate.allOtherNs}}}};
}

}  // namespace opkit
