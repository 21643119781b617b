#include "reports/peer_times.h"

#include <charconv>
#include <cmath>
#include <map>

#include "engine/base/checked_file.h"

namespace opkit::reports {
namespace {

constexpr size_t kColumns = 8;

std::vector<std::string> split(const std::string& line) {
  std::vector<std::string> cells(1);
  for (const char c : line)
    if (c == '\t')
      cells.emplace_back();
    else
      cells.back() += c;
  return cells;
}

Result<PeerTime> rowOf(const std::string& line) {
  const std::vector<std::string> cells = split(line);
  if (cells.size() != kColumns || cells[0].empty())
    return Status::invalidArgument("expected {} columns, found '{}'", kColumns, line);
  PeerTime row{cells[0], cells[1], cells[2], cells[3], 0, cells[6], cells[7]};
  if (row.threads.empty()) return row;
  const std::string& ratio = cells[4];
  const auto parsed = std::from_chars(ratio.data(), ratio.data() + ratio.size(), row.ratio);
  if (parsed.ec != std::errc() || parsed.ptr != ratio.data() + ratio.size() || !(row.ratio > 0))
    return Status::invalidArgument("expected a ratio above 0, got '{}'", ratio);
  return row;
}

}  // namespace

std::string PeerTimes::summary() const {
  struct Sum {
    double logarithms = 0;
    size_t count = 0, above = 0;
  };
  std::map<std::string, Sum> sums;
  for (const PeerTime& row : rows) {
    if (row.threads.empty()) continue;
    Sum& sum = sums[row.threads];
    sum.logarithms += std::log(row.ratio);
    ++sum.count;
    sum.above += row.ratio > 1;
  }
  std::string text;
  for (const auto& [threads, sum] : sums)
    text += fmt::format("{}{:.2f} of ONNX Runtime's time at {} thread{} ({} of {} networks above 1)",
                        text.empty() ? "" : ", ", std::exp(sum.logarithms / static_cast<double>(sum.count)), threads,
                        threads == "1" ? "" : "s", sum.above, sum.count);
  return text;
}

Result<PeerTimes> readPeerTimes(const std::string& path) {
  OPKIT_ASSIGN(std::ifstream file, openLines(path, "a record of reports/peers/onnxruntime.sh"));
  PeerTimes times;
  bool hasHeader = false;
  LineReader lines(file, path);
  while (lines.next()) {
    const std::string& line = lines.line();
    if (line.starts_with("# ")) {
      times.about.push_back(line.substr(2));
      continue;
    }
    if (!std::exchange(hasHeader, true)) continue;
    auto row = rowOf(line);
    if (!row) return row.error().withContext(lines.where());
    times.rows.push_back(*std::move(row));
  }
  OPKIT_TRY(lines.status());
  if (times.summary().empty()) return Status::invalidArgument("{}: expected times of networks, found none", path);
  return times;
}

}  // namespace opkit::reports
