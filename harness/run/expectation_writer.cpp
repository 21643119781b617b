#include "harness/run/expectation_writer.h"

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "engine/model/model.h"

namespace opkit::harness {
namespace {

namespace fs = std::filesystem;

constexpr size_t kLongestReason = 240;  // bytes
constexpr const char* kHeading =
    "# PATTERN | [driver RANGE | ]REASON; reports/expectations/README.md describes the form.\n";

/// One line without control characters, not longer than kLongestReason, and not like a range of drivers.
std::string oneLineReason(const CaseRecord& record) {
  std::string text = record.reason.empty() ? record.failedCheck : record.reason;
  if (record.diagnosis) text += fmt::format(" [{}: {}]", record.diagnosis->kind, record.diagnosis->text);
  for (char& c : text)
    if (static_cast<unsigned char>(c) < ' ') c = ' ';
  if (text.size() > kLongestReason) {
    size_t end = kLongestReason;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;  // between two characters
    text = text.substr(0, end) + "...";
  }
  const size_t begin = text.find_first_not_of(' ');
  if (begin == text.npos) return nameOf(record.status);
  text = text.substr(begin, text.find_last_not_of(' ') - begin + 1);
  return text.starts_with("driver ") ? "the " + text : text;
}

/// The id as a pattern: what a line cannot hold becomes *.
std::string patternOf(const CaseRecord& record) {
  std::string id = record.id;
  for (size_t at = id.find(" |"); at != id.npos; at = id.find(" |", at)) id.replace(at, 2, "*");
  std::ranges::replace_if(
      id, [](char c) { return static_cast<unsigned char>(c) < ' '; }, '*');
  return record.kind == "check" ? id : record.kind + " " + id;
}

Result<std::string> textOf(const std::string& path) {
  if (!fs::exists(path)) return std::string();
  OPKIT_ASSIGN(const std::vector<uint8_t> bytes, readFile(path));
  return std::string(bytes.begin(), bytes.end());
}

/// The comments at the top, up to the first blank line; removed from `text`.
std::string takeHeading(std::string& text) {
  size_t at = 0;
  while (at < text.size() && text[at] == '#') at = std::min(text.find('\n', at), text.size() - 1) + 1;
  if (at == 0 || (at < text.size() && text[at] != '\n')) return "";
  const std::string heading = text.substr(0, at);
  text.erase(0, at + 1);
  return heading;
}

}  // namespace

Result<std::string> mergedExpectations(const std::string& path, const std::string& text,
                                       const std::map<std::string, std::string>& lines) {
  std::string body = text;
  const std::string heading = text.empty() ? kHeading : takeHeading(body);
  std::multimap<std::string, std::string> blocks;  // by key: the comments above a line, and the line
  for (const auto& [key, reason] : lines) blocks.emplace(key, fmt::format("{} | {}\n", key, reason));
  std::string comments;
  std::istringstream stream(body);
  for (std::string line; std::getline(stream, line);) {
    auto parsed = parseExpectation(line);
    if (!parsed) return parsed.error().withContext(path);
    if (*parsed)
      blocks.emplace((*parsed)->key(), std::exchange(comments, "") + line + "\n");
    else if (line.find('#') != line.npos)
      comments += line + "\n";
  }
  std::string merged = heading.empty() ? "" : heading + "\n";
  for (const auto& [key, block] : blocks) merged += block;
  return merged + comments;
}

Result<ExpectationWriter> ExpectationWriter::open(const std::string& folder, const std::vector<DeviceInfo>& devices,
                                                  const std::vector<std::string>& backends) {
  ExpectationWriter writer;
  writer.folder_ = folder;
  OPKIT_ASSIGN(writer.known_, Expectations::read(folder, devices, backends));
  for (const DeviceInfo& device : devices) {
    const DriverVersion version = driverVersionOf(device.driver);
    writer.targets_[device.backend] = {
        fileNameOf(device), version.empty() ? "" : " | driver " + DriverRange{version, version}.toString(), {}};
  }
  return writer;
}

void ExpectationWriter::add(const CaseRecord& record) {
  const auto target = targets_.find(record.backend);
  if (!isFailure(record.status) || record.status == CaseStatus::Unexpected || record.id.empty()) return;
  CaseRecord judged = record;
  known_.judge(judged);
  if (target == targets_.end() || judged.status != record.status) return;
  const bool flaked = record.rerun == CaseStatus::Pass;
  target->second.lines[flaked].emplace(patternOf(record) + target->second.drivers, oneLineReason(record));
}

Result<std::vector<std::string>> ExpectationWriter::write() const {
  std::vector<std::string> notes;
  for (const auto& [backend, target] : targets_)
    for (size_t i = 0; i < target.lines.size(); ++i) {
      if (target.lines[i].empty()) continue;
      std::error_code error;
      fs::create_directories(folder_, error);
      const std::string path = fs::path(folder_) / fmt::format("{}.{}", target.stem, kExpectationEndings[i]);
      OPKIT_ASSIGN(const std::string before, textOf(path));
      OPKIT_ASSIGN(const std::string text, mergedExpectations(path, before, target.lines[i]));
      OPKIT_TRY(writeFile(path, {reinterpret_cast<const uint8_t*>(text.data()), text.size()})
                    .withContext("--emit-expectations"));
      notes.push_back(fmt::format("expectations: {}: lines added: {}", path, target.lines[i].size()));
    }
  return notes;
}

}  // namespace opkit::harness
