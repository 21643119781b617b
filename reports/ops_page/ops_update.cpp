#include <algorithm>

#include "reports/ops_page/ops_page.h"

namespace opkit::reports {
namespace {

bool hasCases(const OpsEntry& entry) {
  for (const auto& [dtype, byBackend] : entry.cells)
    for (const auto& [backend, cell] : byBackend)
      if (!cell.empty()) return true;
  return false;
}

std::string backendsOf(const OpsTable& table) {
  std::string text;
  for (const OpsDevice& device : table.devices)
    text += (text.empty() ? "" : ", ") + device.backend + (device.software ? " (software)" : "");
  return text;
}

Status expectSameConfiguration(const OpsTable& page, const OpsTable& run) {
  if (backendsOf(page) != backendsOf(run))
    return Status::invalidArgument("the page shows {}, the results have {}", backendsOf(page), backendsOf(run));
  if (page.options != run.options)
    return Status::invalidArgument("the page shows the device options '{}', the results have '{}'", page.options,
                                   run.options);
  if (!run.missing.empty()) return Status::invalidArgument("the results do not hold all cases: {}", run.missing);
  return Status::ok();
}

void keepRates(const OpsEntry& from, OpsEntry& to) {
  for (const auto& [dtype, byBackend] : from.cells)
    for (const auto& [backend, old] : byBackend) {
      if (!(old.rate > 0) || !to.cells.contains(dtype)) continue;
      OpsCell& cell = to.cells[dtype][backend];
      if (cell.rate == 0 && cell.kernels == old.kernels) cell.rate = old.rate;
    }
}

/// "`op-harness check --op Relu`, on AMD EPYC: the rows of Relu": the device where it is another one than the page's.
OpsRun runOfRows(OpsRun run, const OpsTable& page, const OpsTable& results, const std::vector<std::string>& operators) {
  for (size_t i = 0; i < page.devices.size(); ++i)
    if (!page.devices[i].isSame(results.devices[i])) run.command += ", on " + results.devices[i].name;
  run.command += fmt::format(": the rows of {}", fmt::join(operators, ", "));
  return run;
}

}  // namespace

Result<OpsTable> updatedOpsTable(OpsTable page, const OpsTable& run) {
  OPKIT_TRY(expectSameConfiguration(page, run));
  std::vector<std::string> updated;
  for (const auto& [op, entry] : run.operators) {
    if (!hasCases(entry)) continue;
    updated.push_back(op);
    OpsEntry fresh = entry;
    if (const auto old = page.operators.find(op); old != page.operators.end()) keepRates(old->second, fresh);
    page.operators[op] = std::move(fresh);
  }
  std::erase_if(page.operators, [&](const auto& each) { return !run.operators.contains(each.first); });
  std::erase_if(page.refusals, [&](const OpsRefusal& each) {
    return !run.operators.contains(each.op) || std::ranges::find(updated, each.op) != updated.end();
  });
  page.refusals.insert(page.refusals.end(), run.refusals.begin(), run.refusals.end());
  for (const OpsRun& each : run.runs) {
    OpsRun shown = runOfRows(each, page, run, updated);
    std::erase_if(page.runs, [&](const OpsRun& old) { return old.command == shown.command; });
    page.runs.push_back(std::move(shown));
  }
  return page;
}

}  // namespace opkit::reports
