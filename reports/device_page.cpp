#include "reports/device_page.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "reports/causes.h"
#include "reports/report_data.h"
#include "reports/results/runs.h"
#include "reports/tally.h"

namespace opkit::reports {
namespace {

constexpr const char* kEstimate = "measured";  // the name of the GPU in AccessRecord::estimateNs
constexpr size_t kRowsShown = 20, kFailuresShown = 12;

/// Median by the device's clock, else by the host's; 0 without either.
double timeOnDevice(const CaseRecord& record) {
  for (const char* name : {"executeDevice", "executeWall"})
    if (const auto found = record.times.find(name); found != record.times.end()) return found->second.median;
  return 0;
}

/// The results of one device.
struct DeviceResults {
  DeviceRecord device;
  std::vector<const Run*> runs;
  Results part;  // its cases
};

std::vector<DeviceResults> byDevice(const Results& results) {
  std::vector<DeviceResults> found;
  for (const RunRecords& run : byRun(results))
    for (const DeviceRecord* device : run.devices) {
      if (device->backend != "vulkan") continue;
      auto one = std::ranges::find_if(found, [&](const DeviceResults& each) {
        return each.device.name == device->name && each.device.driver == device->driver &&
               each.device.uuid == device->uuid;
      });
      if (one == found.end()) one = found.insert(found.end(), {*device, {}, {}});
      if (device->roof) one->device.roof = device->roof;
      one->runs.push_back(run.run);
      for (const CaseRecord* record : run.cases)
        if (record->backend == "vulkan") one->part.cases.push_back(*record);
    }
  return found;
}

std::string headOf(const DeviceResults& one) {
  const DeviceRecord& device = one.device;
  const RunRecord& facts = one.runs.front()->facts;
  std::string text = fmt::format("## {}\n\n", device.name);
  if (device.software) text += "**A software device: its times say nothing about a GPU.**\n\n";
  text += fmt::format("Driver {}; {}, {} cores, {}; OpKit {}, commit {}{}, {}.\n\n", device.driver, facts.cpu,
                      facts.cores, facts.os, facts.version, facts.commit.substr(0, 12),
                      facts.dirty ? " with local changes" : "", facts.started);
  return text;
}

std::string clockText(double ratio) {
  return ratio == 0 ? "the device has none" : fmt::format("{:.3f} of the host's", ratio);
}

std::string casesText(const Results& part, const std::string& kind) {
  Tally tally;
  for (const CaseRecord* record : part.ofKind(kind)) tally.add(record->status);
  return tally.total() == 0 ? "none ran" : tally.sum();
}

std::string tableOf(const DeviceResults& one) {
  std::string text = "| what | result |\n|---|---|\n";
  if (const auto& roof = one.device.roof) {
    text += fmt::format("| clock | {} |\n", clockText(roof->clockRatio));
    text += fmt::format(
        "| plain shaders | {:.3g} GFLOP/s multiply-adds, {:.3g} GB/s copies ({:.3g} from a cache), {} a launch |\n",
        roof->flopsPerNs, roof->bytesPerNs, roof->cacheBytesPerNs, formatNs(roof->launchNs));
  }
  for (const auto& [kind, name] :
       {std::pair("check", "cases checked"), std::pair("bench", "cases timed"), std::pair("access", "kernels traced"),
        std::pair("model", "networks, outputs and layers")})
    text += fmt::format("| {} | {} |\n", name, casesText(one.part, kind));
  const auto cut = std::ranges::count_if(one.runs, [](const Run* run) { return !run->complete(); });
  text +=
      fmt::format("| runs | {}{} |\n\n", one.runs.size(), cut > 0 ? fmt::format(", {} of them cut short", cut) : "");
  return text;
}

std::string failuresOf(const Results& part) {
  const std::vector<Cause> causes = causesOf(part);
  if (causes.empty()) return "";
  std::string text = fmt::format("### Failures: {} {}\n\n", causes.size(), causes.size() == 1 ? "cause" : "causes");
  for (size_t i = 0; i < std::min(causes.size(), kFailuresShown); ++i) {
    const CaseRecord& first = *causes[i].cases.front();
    text += fmt::format("- {} {}: {}\n  `{}`\n", causes[i].cases.size(), first.op, first.reason,
                        first.repro.empty() ? first.id : first.repro);
  }
  if (causes.size() > kFailuresShown) text += fmt::format("- and {} more\n", causes.size() - kFailuresShown);
  return text + "\n";
}

std::string estimatesOf(const Results& part) {
  const std::vector<EstimatedTime> times = estimatedTimes(part);
  if (times.empty()) return "";
  std::string text = fmt::format(
      "### Times beside estimates\n\nThe estimate is the least time by the kernel's memory accesses and this device's "
      "plain shaders. Of {} kernels half take at most {:.2g} times as long.\n\n| case | kernel | time | estimate | "
      "bound "
      "by | times |\n|---|---|---|---|---|---|\n",
      times.size(), times[times.size() / 2].ratio());
  for (size_t i = 0; i < std::min(times.size(), kRowsShown); ++i) {
    const EstimatedTime& one = times[i];
    const auto limit = one.access->access->limits.find(kEstimate);
    text += fmt::format("| `{}` | {} | {} | {} | {} | {:.3g} |\n", one.access->id,
                        one.bench->kernel.empty() ? one.bench->provider : one.bench->kernel, formatNs(one.timeNs),
                        formatNs(one.estimateNs), limit == one.access->access->limits.end() ? "" : limit->second,
                        one.ratio());
  }
  if (times.size() > kRowsShown) text += fmt::format("\n{} more are on the HTML page.\n", times.size() - kRowsShown);
  return text + "\n";
}

}  // namespace

std::vector<EstimatedTime> estimatedTimes(const Results& results) {
  std::map<std::pair<std::string, std::string>, const CaseRecord*> timed;
  for (const CaseRecord* record : results.ofKind("bench"))
    if (record->backend == "vulkan") timed[{record->id, record->device}] = record;
  std::vector<EstimatedTime> found;
  for (const CaseRecord* record : results.ofKind("access")) {
    if (!record->access) continue;
    const auto estimate = record->access->estimateNs.find(kEstimate);
    const auto bench = timed.find({record->id, record->device});
    if (estimate == record->access->estimateNs.end() || bench == timed.end()) continue;
    const EstimatedTime one{record, bench->second, estimate->second, timeOnDevice(*bench->second)};
    if (one.estimateNs > 0 && one.timeNs > 0) found.push_back(one);
  }
  std::ranges::stable_sort(found, std::greater(), &EstimatedTime::ratio);
  return found;
}

std::string devicePages(const Results& results) {
  std::string text;
  for (const DeviceResults& one : byDevice(results))
    text += headOf(one) + tableOf(one) + failuresOf(one.part) + estimatesOf(one.part);
  return text;
}

}  // namespace opkit::reports
