#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string_view>

#include "reports/ops_page/ops_page.h"
#include "reports/ops_page/ops_words.h"

namespace opkit::reports {
namespace {

using Cells = std::vector<std::string>;

/// The cells of "| a | b |"; empty if the line is no row of a table.
Cells cellsOf(const std::string& line) {
  Cells cells;
  if (!line.starts_with("| ") || !line.ends_with(" |")) return cells;
  for (size_t begin = 2; begin < line.size();) {
    const size_t end = line.find(" | ", begin);
    const size_t stop = end == std::string::npos ? line.size() - 2 : end;
    cells.push_back(line.substr(begin, stop - begin));
    if (end == std::string::npos) break;
    begin = end + 3;
  }
  return cells;
}

/// Both rates of "7.1–38" or "7.1–38 GFLOP/s"; {0, 0} if there is none.
Result<std::pair<double, double>> ratesOf(const std::string& text) {
  if (text.empty()) return std::pair(0.0, 0.0);
  char* end = nullptr;
  const double low = std::strtod(text.c_str(), &end);
  const std::string dash = "–";
  double high = low;
  if (std::string_view(end).starts_with(dash)) high = std::strtod(end + dash.size(), &end);
  const std::string_view unit(end);
  if (!(low > 0) || high < low || (!unit.empty() && unit != " GFLOP/s"))
    return Status::invalidArgument("expected a rate like '3.1' or '7–38 GFLOP/s', found '{}'", text);
  return std::pair(low, high);
}

/// The kernels, and whether cases ran or were refused, of "opkit/vector, opkit (some refused)".
OpsCell pageCell(std::string text, const std::string& margin) {
  OpsCell cell;
  cell.margin = margin;
  if (text == words::kNoCase) return cell;
  cell.refused = text == words::kRefused;
  if (text == words::kRefused) return cell;
  const auto ends = [&text](const char* suffix) {
    if (!text.ends_with(suffix)) return false;
    text.erase(text.size() - std::string(suffix).size());
    return true;
  };
  cell.failed = ends(words::kSomeFailed);
  cell.refused = ends(words::kSomeRefused);
  cell.ran = 1;
  for (const std::string& kernel : words::split(text)) cell.kernels.insert(kernel);
  return cell;
}

class PageParser {
 public:
  Result<OpsTable> parse(const std::string& text) {
    std::istringstream lines(text);
    size_t number = 0;
    for (std::string line; std::getline(lines, line);) {
      ++number;
      if (Status status = read(line); !status.isOk()) return status.withContext(fmt::format("line {}", number));
    }
    if (table_.operators.empty() || table_.devices.empty())
      return Status::invalidArgument("expected a page of `op-report ops`, found no table of operators");
    return std::move(table_);
  }

 private:
  enum class In { Text, Devices, Runs, Operators, Refusals, Idle };

  Status read(const std::string& line) {
    if (line.starts_with("|---")) return Status::ok();
    if (line.starts_with(words::kStrong) && line.ends_with(words::kStrong) && line.size() > 4)
      table_.missing = line.substr(2, line.size() - 4);
    const Cells cells = cellsOf(line);
    if (cells.empty()) {
      in_ = In::Text;
      heading_.clear();
      return Status::ok();
    }
    if (heading_.empty()) return begin(cells);
    if (cells.size() != heading_.size())
      return Status::invalidArgument("expected {} cells, found {}", heading_.size(), cells.size());
    switch (in_) {
      case In::Text: break;  // a table for readers only
      case In::Devices: return addDevice(cells);
      case In::Runs: table_.runs.push_back({cells[0], cells[1], cells[2]}); break;
      case In::Operators: return addRow(cells);
      case In::Refusals: return addRefusal(cells);
      case In::Idle: return addIdle(cells);
    }
    return Status::ok();
  }

  /// The first row of a table says what the table holds.
  Status begin(const Cells& cells) {
    heading_ = cells;
    if (cells.size() < 3) return Status::ok();
    if (cells[0] == words::kRun) in_ = In::Runs;
    if (cells[0] == words::kBackend && cells[1] == words::kDTypes && cells.size() == 5) in_ = In::Refusals;
    if (cells[0] == words::kBackend && cells[1] == words::kDevice) in_ = In::Devices;
    if (cells[0] == words::kBackend && cells[1] == words::kKernel) in_ = In::Idle;
    if (cells[0] == words::kOperator && cells[1] == words::kErrorClass) in_ = In::Operators;
    if (in_ == In::Operators && cells.size() != 3 + 3 * table_.devices.size())
      return Status::invalidArgument("expected three columns for each of {} backends, found {} cells",
                                     table_.devices.size(), cells.size());
    return Status::ok();
  }

  Status addDevice(const Cells& cells) {
    if (cells.size() < 6) return Status::invalidArgument("expected a device, found {} cells", cells.size());
    table_.devices.push_back(
        {cells[0], cells[1], cells[2], cells[3] == words::kSoftware, cells.back().starts_with(words::kRoofRates)});
    table_.options = cells[4] == "none" ? "" : cells[4];
    table_.build = cells[5];
    return Status::ok();
  }

  Status addRow(const Cells& cells) {
    if (!cells[0].empty()) {
      std::string name = cells[0], folder;
      if (const size_t link = name.find("](../ops/"); name.starts_with('[') && link != std::string::npos) {
        folder = name.substr(link + 9, name.find('/', link + 9) - link - 9);
        name = name.substr(1, link - 1);
      }
      if (table_.operators.contains(name)) return Status::invalidArgument("operator {} is there twice", name);
      entry_ = &table_.operators[name];
      entry_->errorClass = cells[1];
      entry_->folder = folder;
    }
    if (!entry_) return Status::invalidArgument("expected the name of an operator in the first row");
    const std::vector<std::string> dtypes = words::split(cells[2]);
    for (size_t i = 0; i < table_.devices.size(); ++i) {
      OPKIT_ASSIGN(const auto rates, ratesOf(cells[5 + 3 * i]));
      for (const std::string& dtype : dtypes) {
        OpsCell& cell = entry_->cells[dtype][table_.devices[i].backend];
        cell = pageCell(cells[3 + 3 * i], cells[4 + 3 * i]);
        cell.rate = dtype == dtypes.back() ? rates.second : rates.first;
      }
    }
    return Status::ok();
  }

  Status addRefusal(const Cells& cells) {
    const bool isPart = cells[3] == words::kSome;
    if (!isPart && cells[3] != words::kAll)
      return Status::invalidArgument("expected {} or {} refused cases, found '{}'", words::kAll, words::kSome,
                                     cells[3]);
    for (std::string op : words::split(cells[4])) {
      OpsRefusal refusal{cells[0], op, cells[1], cells[2], 1, 1};
      if (isPart) {
        const size_t open = op.find(" (");
        if (open == std::string::npos ||
            std::sscanf(op.c_str() + open, " (%zu of %zu)", &refusal.refused, &refusal.of) != 2 || !refusal.isPart())
          return Status::invalidArgument("expected an operator like 'Pow (2 of 9)', found '{}'", op);
        refusal.op = op.substr(0, open);
      }
      table_.refusals.push_back(refusal);
    }
    return Status::ok();
  }

  Status addIdle(const Cells& cells) {
    for (const std::string& op : words::split(cells[2])) {
      const auto found = table_.operators.find(op);
      if (found == table_.operators.end()) return Status::invalidArgument("operator {} has no row above", op);
      found->second.idle[cells[0]].insert(cells[1]);
    }
    return Status::ok();
  }

  OpsTable table_;
  OpsEntry* entry_ = nullptr;
  Cells heading_;
  In in_ = In::Text;
};

}  // namespace

Result<OpsTable> parseOpsPage(const std::string& text) { return PageParser().parse(text); }

}  // namespace opkit::reports
