#include "harness/run/expectations.h"

#include <algorithm>
#include <filesystem>

#include "engine/model/model.h"
#include "harness/cases/case.h"
#include "harness/cases/departures.h"

namespace opkit::harness {
namespace {

namespace fs = std::filesystem;

constexpr std::array<const char*, 2> kCaseKinds = {"check", "conformance"};
constexpr std::string_view kBetween = " | ";

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r";
  const size_t begin = text.find_first_not_of(kBlanks);
  return begin == text.npos ? std::string_view() : text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

/// The text up to the next " | ", which is removed from `rest`; at the end of a line a bar needs no blank behind it.
std::string_view nextField(std::string_view& rest) {
  if (rest.starts_with('|')) {
    rest = trimmed(rest.substr(1));
    return {};
  }
  const size_t bar = rest.find(kBetween);
  const bool endsInBar = bar == rest.npos && rest.ends_with(" |");
  const std::string_view field = endsInBar ? rest.substr(0, rest.size() - 2) : rest.substr(0, bar);
  rest = bar == rest.npos ? std::string_view() : trimmed(rest.substr(bar + kBetween.size()));
  return trimmed(field);
}

bool isSmallWord(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= 'a' && c <= 'z'; });
}

/// Ids of results that are no case of an operator: error cases, stored shapes, kernels and rules for case files.
bool isNoCaseId(const std::string& id) {
  return id.starts_with("error:") || id.starts_with("shapes:") || id.starts_with("kernel:") ||
         id.find(".cases.json: ") != id.npos;
}

/// "conformance node/test_relu" or "Softmax*". An id without * is brought into its canonical form.
Status readPattern(std::string_view field, Expectation& line) {
  const size_t blank = field.find(' ');
  if (blank != field.npos && isSmallWord(field.substr(0, blank))) {
    line.caseKind = field.substr(0, blank);
    if (std::ranges::find(kCaseKinds, line.caseKind) == kCaseKinds.end())
      return Status::invalidArgument("expected check or conformance before the pattern, got '{}'", line.caseKind);
    field = trimmed(field.substr(blank));
  }
  line.pattern = field;
  if (field.empty()) return Status::invalidArgument("expected a pattern before the first ' | ', found none");
  if (std::ranges::any_of(field, [](char c) { return static_cast<unsigned char>(c) < ' '; }))
    return Status::invalidArgument("the pattern holds a control character");
  if (line.caseKind == "conformance" || field.find('*') != field.npos || isNoCaseId(line.pattern)) return Status::ok();
  const auto id = parseCaseId(line.pattern);
  if (!id) return id.error().withContext("the pattern has no * and is no id of a case");
  line.pattern = id->id();
  return Status::ok();
}

/// Blanks and other characters between words become one hyphen.
std::string slugOf(const std::string& text) {
  std::string slug;
  for (const char c : text) {
    const bool isLarge = c >= 'A' && c <= 'Z', isKept = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    if (isLarge || isKept)
      slug += isLarge ? static_cast<char>(c - 'A' + 'a') : c;
    else if (!slug.empty() && slug.back() != '-')
      slug += '-';
  }
  while (slug.ends_with('-')) slug.pop_back();
  return slug;
}

std::string withoutDetails(const std::string& name) {
  std::string kept;
  for (size_t at = 0; at < name.size(); ++at) {
    const size_t end = name[at] == '(' ? name.find(')', at) : name.npos;
    const std::string inside = end == name.npos ? "" : name.substr(at + 1, end - at - 1);
    const bool isMark = inside == "R" || inside == "TM" || inside == "C";
    std::string words = inside;
    std::ranges::replace(words, ',', ' ');
    if (isMark || !driverVersionOf(words).empty())
      at = end;
    else
      kept += name[at];
  }
  return kept;
}

/// OK for "vulkan-llvmpipe.fails", where the backend is one of `backends`, and for pages and hidden files.
Status checkFileName(const std::string& name, const std::vector<std::string>& backends) {
  const size_t dot = name.rfind('.');
  const std::string stem = name.substr(0, dot), ending = dot == name.npos ? "" : name.substr(dot + 1);
  if (std::ranges::find(kExpectationEndings, ending) == kExpectationEndings.end())
    return Status::invalidArgument("expected a name that ends in .fails, .flakes or .skips (or a page, .md)");
  const bool known = std::ranges::any_of(backends, [&](const std::string& backend) {
    return stem == slugOf(backend) || stem.starts_with(slugOf(backend) + "-");
  });
  if (!known)
    return Status::invalidArgument("expected a name that begins with a backend ({})", fmt::join(backends, ", "));
  if (slugOf(stem) != stem) return Status::invalidArgument("expected the name '{}.{}'", slugOf(stem), ending);
  return Status::ok();
}

std::vector<std::string> filesIn(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename();
    if (!name.starts_with('.') && !name.ends_with(".md")) names.push_back(name);
  }
  std::ranges::sort(names);
  return names;
}

}  // namespace

bool Expectation::matches(const std::string& kindOfCase, const std::string& id) const {
  return kindOfCase == caseKind && matchesPattern(pattern, id);
}

std::string Expectation::where() const { return fmt::format("{}:{}", file, line); }

std::string Expectation::key() const {
  return fmt::format("{}{}{}", caseKind == "check" ? "" : caseKind + " ", pattern,
                     drivers ? " | driver " + drivers->toString() : "");
}

Result<std::optional<Expectation>> parseExpectation(const std::string& text) {
  std::string_view rest = trimmed(text);
  if (rest.empty() || rest.starts_with('#')) return std::optional<Expectation>();
  Expectation line;
  OPKIT_TRY(readPattern(nextField(rest), line));
  constexpr std::string_view kDriver = "driver";
  if (rest.starts_with("driver ")) {
    OPKIT_ASSIGN(line.drivers, parseDriverRange(trimmed(nextField(rest).substr(kDriver.size()))));
  }
  line.reason = rest;
  if (rest.empty()) return Status::invalidArgument("expected PATTERN | REASON, found no reason");
  return std::optional(std::move(line));
}

std::string fileNameOf(const DeviceInfo& device) { return slugOf(device.backend + "-" + withoutDetails(device.name)); }

Result<std::vector<Expectation>> parseExpectations(const std::string& path, const std::string& text) {
  const std::string file = fs::path(path).filename(), ending = fs::path(file).extension();
  std::vector<Expectation> lines;
  for (size_t at = 0, number = 1; at < text.size(); ++number) {
    const size_t end = std::min(text.find('\n', at), text.size());
    auto parsed = parseExpectation(text.substr(at, end - at));
    at = end + 1;
    if (!parsed) return parsed.error().withContext(fmt::format("{}:{}", path, number));
    if (!*parsed) continue;
    Expectation line = **std::move(parsed);
    for (size_t i = 0; i < kExpectationEndings.size(); ++i)
      if (ending.substr(1) == kExpectationEndings[i]) line.kind = static_cast<ExpectationKind>(i);
    line.path = path, line.file = file, line.line = number;
    for (const Expectation& other : lines)
      if (other.key() == line.key()) return Status::invalidArgument("{}:{}: repeats line {}", path, number, other.line);
    lines.push_back(std::move(line));
  }
  return lines;
}

Result<Expectations> Expectations::read(const std::string& folder, const std::vector<DeviceInfo>& devices,
                                        const std::vector<std::string>& backends) {
  Expectations all;
  std::vector<const DeviceInfo*> found;
  for (const std::string& name : filesIn(folder)) {
    const std::string path = fs::path(folder) / name;
    OPKIT_TRY(checkFileName(name, backends).withContext(path));
    OPKIT_ASSIGN(const std::vector<uint8_t> bytes, readFile(path));
    OPKIT_ASSIGN(const std::vector<Expectation> lines, parseExpectations(path, {bytes.begin(), bytes.end()}));
    const std::string stem = fs::path(name).stem();
    for (const DeviceInfo& device : devices) {
      if (stem != slugOf(device.backend) && stem != fileNameOf(device)) continue;
      OPKIT_ASSIGN(const size_t kept, all.keep(lines, device));
      all.notes_.push_back(
          fmt::format("expectations: {}: {} of {} lines are for this driver", path, kept, lines.size()));
      found.push_back(&device);
    }
  }
  for (const DeviceInfo& device : devices)
    if (std::ranges::find(found, &device) == found.end())
      all.notes_.push_back(
          fmt::format("expectations: {} has no file {}.fails, .flakes or .skips", folder, fileNameOf(device)));
  return all;
}

/// Keeps the lines for the version of the device's driver; returns their number.
Result<size_t> Expectations::keep(const std::vector<Expectation>& lines, const DeviceInfo& device) {
  const DriverVersion version = driverVersionOf(device.driver);
  const size_t before = known_.size();
  for (const Expectation& line : lines) {
    if (line.drivers && version.empty())
      return Status::invalidArgument("{}:{}: the driver '{}' states no version, so a line for it cannot have a range",
                                     line.path, line.line, device.driver);
    if (line.drivers && !line.drivers->includes(version)) continue;
    known_.push_back({line, device.backend});
  }
  return known_.size() - before;
}

const Expectation* Expectations::skipOf(const std::string& kind, const std::string& id,
                                        const std::string& backend) const {
  for (const Known& known : known_)
    if (known.line.kind == ExpectationKind::Skip && known.backend == backend && known.line.matches(kind, id))
      return &known.line;
  return nullptr;
}

/// The first line that matches; all that match have met the case.
Expectations::Known* Expectations::find(ExpectationKind kind, const CaseRecord& record) {
  Known* first = nullptr;
  for (Known& known : known_) {
    if (known.line.kind != kind || known.backend != record.backend) continue;
    if (!known.line.matches(record.kind, record.id)) continue;
    ++known.met;
    known.failed += isFailure(record.status);
    first = first ? first : &known;
  }
  return first;
}

void Expectations::judge(CaseRecord& record, bool partial) {
  Known* const skips = find(ExpectationKind::Skip, record);
  Known* const flakes = find(ExpectationKind::Flake, record);
  Known* const fails = find(ExpectationKind::Fail, record);
  const auto apply = [&](const Known& known, CaseStatus status) {
    record.expectation = {known.line.where(), known.line.reason, record.status};
    record.status = status;
  };
  const bool failed = isFailure(record.status);
  if (skips && record.status == CaseStatus::Skip) return apply(*skips, CaseStatus::Skip);
  if (flakes && failed) return apply(*flakes, CaseStatus::Flake);
  if (fails && failed) return apply(*fails, CaseStatus::Expected);
  if (!fails || flakes || partial || record.status != CaseStatus::Pass) return;
  if (fails->passed++ == 0) fails->passedId = record.id;
  apply(*fails, CaseStatus::Unexpected);
  record.reason = fmt::format("passes although {} expects it to fail", fails->line.where());
}

std::vector<std::string> Expectations::unexpectedPasses() const {
  std::vector<std::string> texts;
  for (const Known& known : known_) {
    if (known.passed == 0) continue;
    const std::string place = fmt::format("{}:{}", known.line.path, known.line.line);
    const bool isExact = known.line.pattern.find('*') == std::string::npos;
    texts.push_back(
        isExact ? fmt::format("{}: expected to fail, but passes: delete the line ({})", place, known.line.reason)
        : known.failed == 0
            ? fmt::format("{}: expected to fail, but each of its cases passes ({}): delete the line ({})", place,
                          known.passed, known.line.reason)
            : fmt::format("{}: expected to fail, but {} cases pass and {} fail: narrow the pattern; {} passes", place,
                          known.passed, known.failed, known.passedId));
  }
  return texts;
}

std::vector<CaseRecord> Expectations::staleLines(const std::string& kind) const {
  std::vector<CaseRecord> records;
  for (const Known& known : known_) {
    if (known.met > 0 || known.line.caseKind != kind) continue;
    CaseRecord record;
    record.kind = kind;
    record.id = "expectation:" + known.line.where();
    record.backend = known.backend;
    record.status = CaseStatus::Unexpected;
    record.reason = fmt::format("{}:{}: matches no case: delete the line ({})", known.line.path, known.line.line,
                                known.line.reason);
    records.push_back(std::move(record));
  }
  return records;
}

}  // namespace opkit::harness
