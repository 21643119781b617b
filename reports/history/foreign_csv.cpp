#include <algorithm>
#include <array>
#include <charconv>

#include "reports/history/foreign_table.h"

namespace opkit::reports {
namespace {

constexpr std::array<std::string_view, 6> kCsvColumns = {"name", "run", "value", "commit", "date", "unit"};
enum CsvColumn : size_t { kName, kRun, kValue, kCommit, kDate, kUnit };
constexpr size_t kRequired = 3;
constexpr size_t kAbsent = SIZE_MAX;

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r')) text.remove_suffix(1);
  return text;
}

/// Divides lines into cells as RFC 4180 says; a quoted cell ends on its line.
class CsvLine {
 public:
  Status split(std::string_view line) {
    cells_.clear();
    used_ = 0;
    for (bool more = true; more;) {
      OPKIT_TRY(line.starts_with('"') ? quoted(line, more) : plain(line, more));
    }
    return Status::ok();
  }
  const std::vector<std::string_view>& cells() const { return cells_; }

 private:
  Status plain(std::string_view& line, bool& more) {
    const size_t comma = line.find(',');
    more = comma != std::string_view::npos;
    cells_.push_back(trimmed(line.substr(0, comma)));
    line.remove_prefix(more ? comma + 1 : line.size());
    return Status::ok();
  }

  Status quoted(std::string_view& line, bool& more) {
    if (used_ == storage_.size()) storage_.emplace_back(std::make_unique<std::string>());
    std::string& text = *storage_[used_++];
    text.clear();
    size_t at = 1;
    for (;; ++at) {
      if (at >= line.size()) return Status::invalidArgument("a quotation mark is not closed");
      if (line[at] == '"' && (at + 1 >= line.size() || line[at + 1] != '"')) break;
      if (line[at] == '"') ++at;
      text += line[at];
    }
    cells_.push_back(text);
    const std::string_view rest = trimmed(line.substr(at + 1));
    more = rest.starts_with(',');
    if (!more && !rest.empty())
      return Status::invalidArgument("expected a comma after the quotation mark, found '{}'", rest);
    line = more ? rest.substr(1) : std::string_view{};
    return Status::ok();
  }

  std::vector<std::string_view> cells_;
  std::vector<std::unique_ptr<std::string>> storage_;  // of quoted cells
  size_t used_ = 0;
};

class CsvReader {
 public:
  explicit CsvReader(ForeignTable& table) : table_(table) {}

  Status read(std::string_view text) {
    size_t number = 0;
    bool hasHead = false;
    while (!text.empty()) {
      const size_t end = text.find('\n');
      const std::string_view line = trimmed(text.substr(0, end));
      text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
      ++number;
      if (line.empty()) continue;
      const Status status = std::exchange(hasHead, true) ? row(line) : head(line);
      if (!status.isOk()) return status.withContext(fmt::format("line {}", number));
    }
    noteOrder();
    return Status::ok();
  }

 private:
  Status head(std::string_view line) {
    OPKIT_TRY(line_.split(line));
    width_ = line_.cells().size();
    for (size_t column = 0; column < kCsvColumns.size(); ++column) {
      const auto found = std::ranges::find(line_.cells(), kCsvColumns[column]);
      at_[column] = found == line_.cells().end() ? kAbsent : static_cast<size_t>(found - line_.cells().begin());
      if (at_[column] == kAbsent && column < kRequired)
        return Status::invalidArgument("expected a head line with the columns name, run and value; found no '{}'",
                                       kCsvColumns[column]);
    }
    return Status::ok();
  }

  std::string_view cell(CsvColumn column) const {
    return at_[column] == kAbsent ? std::string_view{} : line_.cells()[at_[column]];
  }

  Status row(std::string_view line) {
    OPKIT_TRY(line_.split(line));
    if (line_.cells().size() != width_)
      return Status::invalidArgument("expected {} cells as in the head line, found {}", width_, line_.cells().size());
    if (cell(kRun).empty()) return Status::invalidArgument("expected a run, found none");
    const std::string_view digits = cell(kValue);
    double value = 0;
    const auto [rest, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc() || rest != digits.data() + digits.size())
      return Status::invalidArgument("expected a number as value, found '{}'", digits);
    const uint32_t night = table_.night(cell(kRun));
    OPKIT_TRY(describe(night));
    return table_.add(cell(kName), cell(kUnit), night, value);
  }

  /// The commit and the date of a night; the first row that has them counts.
  Status describe(uint32_t night) {
    Night& known = table_.at(night);
    if (const std::string_view commit = cell(kCommit); !commit.empty()) {
      if (known.commit.empty()) known.commit = commit;
      if (known.commit != commit)
        return Status::invalidArgument("run '{}' has the commit '{}', which was '{}' before", known.name, commit,
                                       known.commit);
    }
    if (cell(kDate).empty() || known.at != 0) return Status::ok();
    const auto seconds = secondsOf(std::string(cell(kDate)));
    if (!seconds)
      return Status::invalidArgument("expected a date such as 2026-01-31 or 2026-01-31T23:59:59, found '{}'",
                                     cell(kDate));
    known.at = *seconds;
    isDisordered_ = isDisordered_ || known.at < latest_;
    latest_ = std::max(latest_, known.at);
    return Status::ok();
  }

  void noteOrder() {
    if (isDisordered_) table_.note("the runs are not in the order of their dates; the order of the rows counts");
  }

  ForeignTable& table_;
  CsvLine line_;
  std::array<size_t, kCsvColumns.size()> at_{};
  size_t width_ = 0;
  int64_t latest_ = INT64_MIN;
  bool isDisordered_ = false;
};

}  // namespace

Status readForeignCsv(std::string_view text, ForeignTable& table) { return CsvReader(table).read(text); }

}  // namespace opkit::reports
