#include "engine/tools/run_report.h"

#include "engine/graph/pass.h"

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
    if (row.deviceNs < 0) continue;
    byType[typeOf(row)].ns += row.deviceNs;
    ++byType[typeOf(row)].count;
  }
  std::vector<std::pair<std::string, Total>> sorted(byType.begin(), byType.end());
  std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.second.ns > b.second.ns; });
  fmt::print("by operator:\n");
  for (const auto& [type, total] : sorted)
    fmt::print("  {:>10}  {:5.1f} %  {} x {}\n", formatNs(total.ns), 100 * total.ns / std::max(sum, 1.0), total.count,
               type);
}

}  // namespace

void printDevice(const DeviceInfo& device) {
  fmt::print("backend {}: {}{}\n", device.backend, device.name, device.software ? " (software device)" : "");
}

void printStep(const RunStep& step) {
  for (const std::string& input : step.inputs) fmt::print("input  {}\n", input);
  for (const auto& [name, tensor] : step.outputs) {
    const TensorSummary summary = summarize(tensor);
    fmt::print("output {} {}: min {:.6g}, max {:.6g}, mean {:.6g}{}\n", name, tensor.desc.toString(), summary.minimum,
               summary.maximum, summary.mean, summary.nans > 0 ? fmt::format(", {} NaN", summary.nans) : "");
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
  for (const Placement& row : step.placement) {
    fmt::print("  {:{}}  {:20}  {}  {}{}{}\n", typeOf(row), width, whereOf(row), row.node, row.outputs,
               row.copiedBytes > 0 ? fmt::format("  {} bytes copied", row.copiedBytes) : "",
               row.fellBack ? "  (fallback)" : "");
    for (const Refusal& refusal : row.refusals)
      fmt::print("  {:{}}    not {}: {}\n", "", width, refusal.provider, refusal.reason);
  }
}

void printProfile(const RunStep& step) {
  double sum = 0;
  for (const Placement& row : step.placement) sum += std::max(row.deviceNs, 0.0);
  if (sum == 0) {
    fmt::print("profile: this backend has no device clock\n");
    return;
  }
  const size_t width = widestType(step);
  fmt::print("profile of the last run, {} in {} commands\n", formatNs(sum), step.placement.size());
  for (const Placement& row : step.placement)
    fmt::print("  {:>10}  {:5.1f} %  {:{}}  {}  {}\n", row.deviceNs < 0 ? "-" : formatNs(row.deviceNs),
               100 * std::max(row.deviceNs, 0.0) / std::max(sum, 1.0), typeOf(row), width, row.node, row.outputs);
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
             step.statistics.moveError.empty() ? "" : ": " + step.statistics.moveError);
}

nlohmann::json deviceJson(const DeviceInfo& device) {
  return {{"backend", device.backend}, {"name", device.name},         {"driver", device.driver},
          {"uuid", device.uuid},       {"software", device.software}, {"index", device.index}};
}

nlohmann::json stepJson(const RunStep& step) {
  nlohmann::json outputs = nlohmann::json::array(), placement = nlohmann::json::array();
  for (const auto& [name, tensor] : step.outputs) {
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
    if (row.deviceNs >= 0) entry["deviceNs"] = row.deviceNs;
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
          {"executionsCreated", step.statistics.executionsCreated}};
}

}  // namespace opkit
