#include "reports/ops_page/ops_page.h"

#include <algorithm>
#include <tuple>

#include "reports/ops_page/ops_words.h"

namespace opkit::reports {
namespace {

/// A cell of a Markdown table: no text ends it or starts HTML.
std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '|')
      out += "/";
    else if (c == '<')
      out += "&lt;";
    else
      out += c;
  }
  return out;
}

std::string rowOf(const std::vector<std::string>& cells) { return fmt::format("| {} |\n", fmt::join(cells, " | ")); }

std::string headingOf(const std::vector<std::string>& cells) {
  std::string line = "|";
  for (size_t i = 0; i < cells.size(); ++i) line += "---|";
  return rowOf(cells) + line + "\n";
}

std::string rateSource(const OpsDevice& device) {
  return std::string(device.roof ? words::kRoofRates : "time on the device, else of the whole run") +
         (device.software ? "; they say nothing about GPUs" : "");
}

std::string deviceTable(const OpsTable& table) {
  std::string text = headingOf({words::kBackend, words::kDevice, "driver", "kind", "options", "build", "rates"});
  for (const OpsDevice& device : table.devices)
    text += rowOf({device.backend, escaped(device.name), escaped(device.driver),
                   device.software ? words::kSoftware : "hardware", table.options.empty() ? "none" : table.options,
                   table.build, rateSource(device)});
  return text;
}

std::string runTable(const OpsTable& table) {
  std::string text = headingOf({words::kRun, "commit", "started"});
  for (const OpsRun& run : table.runs) text += rowOf({escaped(run.command), run.commit, run.started});
  return text;
}

constexpr const char* kLegend = R"(
- **error class**: the bound of the errors, see [numerics.md](numerics.md).
- **dtypes**: of the first input that takes more than bool. `floats` are f32, f16 and f64, `integers` those of 8 to 64 bits,
  `f8` the five floats of 8 bits.
- **kernels** under a backend's name: `provider/kernel`, those that ran the cases. `raster` moves data by regions, `loop`
  runs small commands, `folded` is computed at resize, `control` runs subgraphs on the host, `parts` are other operators.
  `–`: accepted, but not tested. `refused`: the backend runs no case, see [Refused cases](#refused-cases).
- **margin**: the worst error of all cases as a share of the bound, equal in each run on this device and driver.
- **rate**: of the fastest timed entry of 64 KiB or more; a range over the dtypes of the row.

Margins and rates are those of the runs above. [How to refresh the page](harness.md#the-page-of-operators), and what the
test `ops_page` compares.

)";

std::string kernelText(const OpsCell* cell) {
  if (!cell || cell->empty()) return words::kNoCase;
  if (cell->ran == 0) return words::kRefused;
  std::string text = fmt::format("{}", fmt::join(cell->kernels, ", "));
  if (cell->refused > 0) text += words::kSomeRefused;
  if (cell->failed > 0) text += words::kSomeFailed;
  return text;
}

std::string rateNumber(double value) {
  return value >= 9.95 ? fmt::format("{:.0f}", value) : fmt::format("{:.2g}", value);
}

/// "7.1–38" or "7.1–38 GFLOP/s" of the cells of a row.
std::string rateText(const std::vector<const OpsCell*>& cells, bool countsFlops) {
  double slowest = 0, fastest = 0;
  for (const OpsCell* cell : cells) {
    if (!cell || cell->rate <= 0) continue;
    slowest = slowest > 0 ? std::min(slowest, cell->rate) : cell->rate;
    fastest = std::max(fastest, cell->rate);
  }
  if (fastest <= 0) return "";
  const std::string low = rateNumber(slowest), high = rateNumber(fastest);
  return (low == high ? high : low + "–" + high) + (countsFlops ? " GFLOP/s" : "");
}

const OpsCell* find(const std::map<std::string, OpsCell>& byBackend, const std::string& backend) {
  const auto found = byBackend.find(backend);
  return found == byBackend.end() ? nullptr : &found->second;
}

/// The rows of one operator: dtypes with the same kernels and margins on every backend share one.
std::string operatorRows(const OpsTable& table, const std::string& op, const OpsEntry& entry) {
  using Key = std::vector<std::string>;  // kernels and margin of each backend
  std::vector<std::pair<Key, std::vector<std::string>>> groups;
  for (const std::string& dtype : words::sorted(entry.cells)) {
    Key key;
    for (const OpsDevice& device : table.devices) {
      const OpsCell* cell = find(entry.cells.at(dtype), device.backend);
      key.push_back(kernelText(cell));
      key.push_back(cell ? cell->margin : "");
    }
    const auto same = std::ranges::find(groups, key, &std::pair<Key, std::vector<std::string>>::first);
    if (same == groups.end())
      groups.push_back({key, {dtype}});
    else
      same->second.push_back(dtype);
  }
  std::string text;
  for (const auto& [key, dtypes] : groups) {
    const bool isFirst = text.empty();
    const std::string name = entry.folder.empty() ? op : fmt::format("[{0}](../ops/{1}/{1}.md)", op, entry.folder);
    std::vector<std::string> row = {isFirst ? name : "", isFirst ? entry.errorClass : "", words::join(dtypes)};
    for (size_t i = 0; i < table.devices.size(); ++i) {
      std::vector<const OpsCell*> cells;
      for (const std::string& dtype : dtypes) cells.push_back(find(entry.cells.at(dtype), table.devices[i].backend));
      row.insert(row.end(), {key[2 * i], key[2 * i + 1], rateText(cells, entry.countsFlops())});
    }
    text += rowOf(row);
  }
  return text;
}

std::string operatorTable(const OpsTable& table) {
  std::vector<std::string> heading = {words::kOperator, words::kErrorClass, words::kDTypes};
  for (const OpsDevice& device : table.devices)
    heading.insert(heading.end(), {device.backend + (device.software ? " (software)" : ""), "margin", "rate, GB/s"});
  std::string text = headingOf(heading);
  for (const auto& [op, entry] : table.operators) text += operatorRows(table, op, entry);
  return text;
}

/// One row per backend, reason and dtypes; operators with the same ones share it.
std::string refusalTable(const OpsTable& table) {
  std::map<std::tuple<std::string, bool, std::string, std::string>, std::set<std::string>> rows;
  for (const OpsRefusal& one : table.refusals)
    rows[{one.backend, one.isPart(), escaped(one.reason), one.dtypes}].insert(
        one.isPart() ? fmt::format("{} ({} of {})", one.op, one.refused, one.of) : one.op);
  std::string text = headingOf({words::kBackend, words::kDTypes, "reason", "refused cases", "operators"});
  for (const auto& [key, operators] : rows) {
    const auto& [backend, isPart, reason, dtypes] = key;
    text += rowOf(
        {backend, dtypes, reason, isPart ? words::kSome : words::kAll, fmt::format("{}", fmt::join(operators, ", "))});
  }
  return rows.empty() ? std::string("None.\n") : text;
}

std::string idleTable(const OpsTable& table) {
  std::map<std::pair<std::string, std::string>, std::vector<std::string>> rows;
  for (const auto& [op, entry] : table.operators)
    for (const auto& [backend, kernels] : entry.idle)
      for (const std::string& kernel : kernels) rows[{backend, kernel}].push_back(op);
  std::string text = headingOf({words::kBackend, words::kKernel, "operators"});
  for (const auto& [key, operators] : rows)
    text += rowOf({key.first, key.second, fmt::format("{}", fmt::join(operators, ", "))});
  return rows.empty() ? std::string("None.\n") : text;
}

}  // namespace

std::string renderOpsPage(const OpsTable& table) {
  const std::string missing = table.missing.empty() ? "" : words::kStrong + table.missing + words::kStrong + "\n\n";
  return "# Operators\n\nGenerated by `op-report ops` from the results of a run; not written by hand.\n\n" + missing +
         deviceTable(table) + "\n" + runTable(table) + kLegend + operatorTable(table) + "\n## Refused cases\n\n" +
         "The values of the case are left out of a reason. Another backend runs these cases.\n\n" +
         refusalTable(table) + "\n## Kernels that no case chose\n\n" +
         "A faster kernel or another provider comes first here. The sub-checks `providers` and `variants` run "
         "them.\n\n" +
         idleTable(table);
}

}  // namespace opkit::reports
