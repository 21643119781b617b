#include "harness/check/margins.h"

#include <algorithm>
#include <charconv>
#include <sstream>

#include "engine/model/model.h"
#include "harness/cases/case.h"
#include "harness/cases/rng.h"
#include "harness/compare/tolerance.h"
#include "harness/run/driver_range.h"

namespace opkit::harness {

extern const char* const kRecordedMargins;  // margins.tsv, embedded by the build

namespace {

constexpr const char* kNone = "-";
constexpr size_t kKeyFields = 5;

// Why the sub-check did not run. The same words for all cases: results keep each reason once.
constexpr const char* kNoRecord = "no margin below 1/4 is recorded of this entry and kernel in ";
constexpr const char* kNewEnvironment = "no margins are recorded for this device and driver: ";

std::string_view reasonOf(const CaseRecord& record) {
  const auto note = record.notRun.find("margin");
  return note == record.notRun.end() ? std::string_view() : note->second;
}

std::vector<std::string> fieldsOf(const std::string& line) {
  std::vector<std::string> fields;
  std::istringstream stream(line);
  for (std::string field; std::getline(stream, field, '\t');) fields.push_back(field);
  return fields;
}

/// The text in the last parentheses of a CPU's name, or the name.
std::string instructionSetOf(const std::string& name) {
  const size_t open = name.rfind('('), close = name.rfind(')');
  const bool isNamed = open != std::string::npos && close != std::string::npos && open < close;
  return isNamed ? name.substr(open + 1, close - open - 1) : name;
}

/// Two digits, so that a record differs only where something changed.
std::string written(double margin) { return fmt::format("{:.2g}", margin); }

/// The bound itself ends what may grow from a larger one.
bool isOfUse(double margin) { return margin < 1 / kMostGrowth; }

Status parseLine(const std::vector<std::string>& columns, const std::vector<std::string>& fields,
                 RecordedMargins& margins) {
  if (fields.size() != columns.size())
    return Status::invalidArgument("expected {} fields, got {}", columns.size(), fields.size());
  const MarginKey key{fields[0], fields[1], fields[2], fields[3], fields[4]};
  for (size_t i = kKeyFields; i < fields.size(); ++i) {
    if (fields[i] == kNone) continue;
    double margin = 0;
    const char* const end = fields[i].data() + fields[i].size();
    const auto [at, error] = std::from_chars(fields[i].data(), end, margin);
    if (error != std::errc() || at != end || !(margin >= 0))
      return Status::invalidArgument("expected a margin or '-', got '{}'", fields[i]);
    margins.raise(key, columns[i], margin);
  }
  return Status::ok();
}

}  // namespace

std::string marginEnvironment(const DeviceInfo& device) {
  if (device.backend == "cpu") return "cpu/" + instructionSetOf(device.name);
  const std::string driver = device.backend == "vulkan" ? driverSeriesOf(device.driver) : "";
  if (driver.empty()) return device.backend + "/" + device.name;
  return device.backend + "/" + (device.software ? driver : fmt::format("{} ({})", device.name, driver));
}

std::optional<MarginKey> marginKeyOf(const Case& c, const std::string& dtype, const std::string& provider,
                                     const std::string& kernel) {
  if (c.anyFallback || c.name.starts_with("drawn for") || c.seed != kDefaultSeed || c.lane == Lane::Specials)
    return std::nullopt;
  Case bare = c;
  for (auto& input : bare.inputs)
    if (input) input->shape.clear();
  return MarginKey{c.op, dtype, nameOf(c.lane), kernel.empty() ? provider : provider + "/" + kernel,
                   fmt::format("{:06x}", hashText(bare.id()) >> 40)};
}

std::optional<MarginKey> marginKeyOf(const CaseRecord& record) {
  const Result<Case> parsed = parseCaseId(record.id);
  if (!parsed || reasonOf(record) == kNotWritten) return std::nullopt;
  Case c = *parsed;
  c.name = record.name;
  return marginKeyOf(c, record.dtype, record.provider, record.kernel);
}

std::string nameOf(const MarginKey& key) {
  return fmt::format("{} {} {} {} {}", key.op, key.dtype, key.lane, key.kernel, key.entry);
}

bool isMeasured(const CaseRecord& record) {
  if (!record.accuracy || !(record.status == CaseStatus::Pass || record.failedCheck == "margin")) return false;
  return std::ranges::find(record.checks, "margin") != record.checks.end() || reasonOf(record).starts_with(kNoRecord) ||
         isOfNewEnvironment(record);
}

bool isMasked(const CaseRecord& record) { return reasonOf(record) == kOtherDevice; }

bool isOfNewEnvironment(const CaseRecord& record) { return reasonOf(record).starts_with(kNewEnvironment); }

bool hasMargin(const OpDef& def, Lane lane, const std::string& dtype) {
  const bool isExact = def.numeric == NumericClass::Exact || def.numeric == NumericClass::Cast ||
                       (lane == Lane::Exact && hasExactLane(def.numeric));
  const std::optional<DType> type = dtypeFromName(dtype);
  return !isExact && type && isFloat(*type);
}

Result<RecordedMargins> RecordedMargins::parse(const std::string& text) {
  RecordedMargins margins;
  std::vector<std::string> columns;
  std::istringstream stream(text);
  size_t number = 0;
  for (std::string line; std::getline(stream, line);) {
    ++number;
    if (line.empty() || line[0] == '#') continue;
    std::vector<std::string> fields = fieldsOf(line);
    if (columns.empty()) {
      if (fields.size() < kKeyFields)
        return Status::invalidArgument("line {}: expected the names of {} columns or more", number, kKeyFields);
      columns = std::move(fields);
    } else if (const Status status = parseLine(columns, fields, margins); !status.isOk()) {
      return status.withContext(fmt::format("line {}", number));
    }
  }
  return margins;
}

const RecordedMargins& RecordedMargins::builtin() {
  static const RecordedMargins margins = [] {
    auto parsed = parse(kRecordedMargins);
    OPKIT_CHECK(parsed.has_value());
    return *std::move(parsed);
  }();
  return margins;
}

std::optional<double> RecordedMargins::find(const MarginKey& key, const std::string& environment) const {
  const auto row = margins_.find(key);
  if (row == margins_.end()) return std::nullopt;
  const auto found = row->second.find(environment);
  return found == row->second.end() ? std::nullopt : std::optional(found->second);
}

bool RecordedMargins::knows(const std::string& environment) const {
  return std::ranges::any_of(margins_, [&](const auto& one) { return one.second.contains(environment); });
}

void RecordedMargins::raise(const MarginKey& key, const std::string& environment, double margin) {
  double& kept = margins_[key][environment];
  kept = std::max(kept, margin);
}

void RecordedMargins::replaceBy(const RecordedMargins& other, const Scopes& renewed) {
  for (auto& [key, row] : margins_)
    std::erase_if(row, [&, &op = key.op](const auto& one) { return renewed.contains({op, one.first}); });
  for (const auto& [key, row] : other.margins_)
    for (const auto& [environment, margin] : row) margins_[key][environment] = margin;
  std::erase_if(margins_, [](const auto& one) { return one.second.empty(); });
}

std::vector<std::string> RecordedMargins::changesTo(const RecordedMargins& other) const {
  std::vector<std::string> lines;
  for (const auto& [key, row] : other.margins_)
    for (const auto& [environment, margin] : row) {
      const auto old = find(key, environment);
      if (!old && !isOfUse(margin)) continue;  // a file has no such margins
      if (!old || written(*old) != written(margin))
        lines.push_back(
            fmt::format("{} {}: {} -> {}", nameOf(key), environment, old ? written(*old) : "none", written(margin)));
    }
  for (const auto& [key, row] : margins_)
    for (const auto& [environment, margin] : row)
      if (!other.find(key, environment))
        lines.push_back(fmt::format("{} {}: {} -> none", nameOf(key), environment, written(margin)));
  return lines;
}

std::vector<MarginKey> RecordedMargins::unmet(const std::string& op, const std::string& environment,
                                              const std::set<MarginKey>& met) const {
  std::vector<MarginKey> keys;
  for (const auto& [key, row] : margins_)
    if (key.op == op && row.contains(environment) && !met.contains(key)) keys.push_back(key);
  return keys;
}

std::set<std::string> RecordedMargins::environments() const {
  std::set<std::string> all;
  for (const auto& [key, row] : margins_)
    for (const auto& [environment, margin] : row) all.insert(environment);
  return all;
}

std::string RecordedMargins::text() const {
  const std::set<std::string> columns = environments();
  std::string text =
      "# Worst errors of written cases as shares of their bounds; see harness/check/margins.h. Written by `op-harness "
      "margins`.\noperator\tdtype\tlane\tkernel\tentry";
  for (const std::string& column : columns) text += "\t" + column;
  text += "\n";
  for (const auto& [key, row] : margins_) {
    if (std::ranges::none_of(row, [](const auto& one) { return isOfUse(one.second); })) continue;
    text += fmt::format("{}\t{}\t{}\t{}\t{}", key.op, key.dtype, key.lane, key.kernel, key.entry);
    for (const std::string& column : columns) {
      const auto found = row.find(column);
      text += "\t" + (found == row.end() || !isOfUse(found->second) ? kNone : written(found->second));
    }
    text += "\n";
  }
  return text;
}

Result<RecordedMargins> readMargins(const std::string& file) {
  OPKIT_ASSIGN(const auto bytes, readFile(file));
  auto margins = RecordedMargins::parse({bytes.begin(), bytes.end()});
  if (!margins) return margins.error().withContext(file);
  return margins;
}

Status checkMargin(const RecordedMargins& recorded, const DeviceInfo& device, const OpDef& def, const Case& c,
                   const CaseResult& result) {
  if (!hasMargin(def, c.lane, result.dtype)) return Status::unsupported("the results have no errors within a bound");
  const auto key = marginKeyOf(c, result.dtype, result.provider, result.kernel);
  if (!key) return Status::unsupported("{}", kNotWritten);
  const std::string environment = marginEnvironment(device);
  const auto old = recorded.find(*key, environment);
  if (!old) return Status::unsupported("{}{}", recorded.knows(environment) ? kNoRecord : kNewEnvironment, environment);
  const double margin = result.accuracy->margin, most = kMostGrowth * std::max(*old, kLeastMargin);
  if (margin <= most) return Status::ok();
  return Status::internal(
      "the worst error is {:.2g} of its bound, recorded is {} ({}, {}), allowed is {:.2g} (four times the recorded "
      "figure). If the change is wanted, record it with `op-harness margins`",
      margin, written(*old), nameOf(*key), environment, most);
}

}  // namespace opkit::harness
