#include "harness/commands/check_totals.h"

#include <algorithm>

#include "engine/tools/cli.h"
#include "harness/run/terminal.h"
#include "reports/results/kernel_names.h"

namespace opkit::harness {
namespace {

std::string countOf(CaseStatus status, size_t number) {
  switch (status) {
    case CaseStatus::Expected: return fmt::format("{} failed as expected", number);
    case CaseStatus::Unexpected: return fmt::format("{} against expectations", number);
    default: return fmt::format("{} {}", number, nameOf(status));
  }
}

/// "opkit,opkit/wide": all kernels that ran.
std::string kernelsOf(const CheckTally& tally) {
  std::string text;
  for (const std::string& kernel : tally.kernels) {
    const std::string name = kernel.ends_with('/') ? kernel.substr(0, kernel.size() - 1) : kernel;
    if (!name.empty()) text += (text.empty() ? "" : ",") + name;
  }
  return text;
}

void addRow(const std::string& op, const std::string& backend, const CheckTally& tally, Table& table) {
  size_t failed = 0, pass = 0, unsupported = 0, unproved = 0, expected = 0;
  for (const auto& [status, number] : tally.count)
    (isFailure(status)                                               ? failed
     : status == CaseStatus::Pass                                    ? pass
     : status == CaseStatus::Unproved                                ? unproved
     : status == CaseStatus::Expected || status == CaseStatus::Flake ? expected
                                                                     : unsupported) += number;
  const auto with = [](size_t number, size_t more, const char* name) {
    return std::to_string(number) + (more ? fmt::format(" + {} {}", more, name) : "");
  };
  table.add({op, backend, std::to_string(pass), with(failed, expected, "expected"),
             with(unsupported, unproved, "unproved"), formatNumber(tally.worstMargin), cli::formatNs(tally.durationNs),
             kernelsOf(tally)});
}

}  // namespace

void CheckTotals::add(const CaseRecord& one, const std::set<std::string>& variantKernels) {
  CheckTally& tally = tallyOf(one);
  ++tally.count[one.status];
  ++total_[one.status];
  tally.durationNs += one.durationNs;
  for (const std::string& provider : one.departures) ++departures_[provider];
  if (!one.provider.empty()) tally.providers.insert(one.provider);
  if (one.status != CaseStatus::Unsupported) tally.kernels.insert(one.provider + "/" + one.kernel);
  if (one.status == CaseStatus::Pass) tally.uses.insert({kernelName(one.provider, one.kernel), one.dtype});
  for (const std::string& kernel : variantKernels) tally.uses.insert({kernel, one.dtype});
  if (one.accuracy && one.status == CaseStatus::Pass)
    tally.worstMargin = std::max(tally.worstMargin, one.accuracy->margin);
}

const CheckTally* CheckTotals::find(const std::string& op, const std::string& backend) const {
  const auto found = tallies_.find({op, backend});
  return found == tallies_.end() ? nullptr : &found->second;
}

size_t CheckTotals::executed() const {
  size_t sum = 0;
  for (const auto& [status, number] : total_) sum += isExecuted(status) ? number : 0;
  return sum;
}

size_t CheckTotals::failures() const {
  size_t sum = 0;
  for (const auto& [status, number] : total_) sum += isFailure(status) ? number : 0;
  return sum;
}

bool CheckTotals::onlyErrors() const {
  return std::all_of(tallies_.begin(), tallies_.end(), [](const auto& entry) {
    return entry.second.providers.empty() || entry.second.providers == std::set<std::string>{"folded"};
  });
}

void CheckTotals::printTable() const {
  Table table({"operator", "backend", "pass", "fail", "unsupported", "margin", "time", "kernels"});
  for (const auto& [key, tally] : tallies_) addRow(key.first, key.second, tally, table);
  fmt::print("{}", table.toString());
}

void CheckTotals::print(bool isOldBuild) const {
  std::string text;
  for (const auto& [status, number] : total_) text += (text.empty() ? "" : ", ") + countOf(status, number);
  const bool failed = failures() > 0, any = executed() > 0;
  fmt::print("{}: {}{}\n",
             coloured(failed || !any ? CaseStatus::Fail : CaseStatus::Pass, failed ? "FAIL"
                                                                            : any  ? "ok"
                                                                                   : "nothing executed"),
             text.empty() ? "no case" : text, isOldBuild ? " (of an old build, see above)" : "");
  for (const auto& [provider, count] : departures_)
    fmt::print("{} declared departures of provider {}\n", count, provider);
}

std::vector<CaseResult> neverRan(const CheckTotals& totals, const OpRegistry& registry, const std::string& backend) {
  std::vector<CaseResult> results;
  if (backend != "cpu" && backend != "vulkan") return results;
  for (const OpDef* def : registry.all()) {
    const CheckTally* const tally = totals.find(def->type, backend);
    if (!tally || tally->count.contains(CaseStatus::Skip)) continue;
    for (const Creator& creator : kernelsThatNeverRan(registry, backend, *def, tally->uses)) {
      const std::string name = kernelName(creator.provider, creator.kernel);
      CaseResult& result = results.emplace_back();
      result.kind = "check", result.id = "kernel:" + name, result.op = def->type, result.backend = backend;
      result.status = CaseStatus::Mistrusted;
      result.reason =
          fmt::format("no case runs the kernel {} for {}: it refuses every case, or another kernel takes them first",
                      name, creator.dtypes.toString());
      result.repro = fmt::format("op-harness check --backend {} --op {}", backend, def->type);
    }
  }
  return results;
}

}  // namespace opkit::harness
