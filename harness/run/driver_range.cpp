#include "harness/run/driver_range.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <sstream>

namespace opkit::harness {
namespace {

constexpr size_t kMostDigits = 18;  // of one number

bool isDigit(char c) { return c >= '0' && c <= '9'; }
bool isWordBegin(std::string_view text, size_t at) {
  return at == 0 || text[at - 1] == ' ' || text[at - 1] == '(' || text[at - 1] == 'v';
}

/// The numbers at the text's start, and how many characters they take.
std::pair<DriverVersion, size_t> leadingVersion(std::string_view text) {
  DriverVersion version;
  size_t at = 0;
  while (at < text.size() && isDigit(text[at])) {
    uint64_t number = 0;
    const char* const begin = text.data() + at;
    const char* const end = text.data() + text.size();
    const auto parsed = std::from_chars(begin, end, number);
    if (parsed.ec != std::errc() || parsed.ptr - begin > static_cast<std::ptrdiff_t>(kMostDigits)) return {{}, 0};
    version.push_back(number);
    at = static_cast<size_t>(parsed.ptr - text.data());
    if (at + 1 >= text.size() || text[at] != '.' || !isDigit(text[at + 1])) break;
    ++at;
  }
  return {std::move(version), at};
}

std::optional<DriverVersion> wholeVersion(std::string_view text) {
  auto [version, length] = leadingVersion(text);
  if (version.empty() || length != text.size()) return std::nullopt;
  return std::move(version);
}

/// Missing numbers are 0.
bool isBelow(const DriverVersion& a, const DriverVersion& b) {
  for (size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
    const uint64_t left = i < a.size() ? a[i] : 0, right = i < b.size() ? b[i] : 0;
    if (left != right) return left < right;
  }
  return false;
}

DriverVersion cut(DriverVersion version, size_t numbers) {
  version.resize(std::min(version.size(), numbers));
  return version;
}

bool isAbove(const DriverVersion& version, const DriverVersion& last) {
  return !last.empty() && isBelow(last, cut(version, last.size()));
}

/// The version in a driver's text and where it begins.
std::pair<DriverVersion, size_t> findVersion(std::string_view driver) {
  for (size_t at = 0; at < driver.size(); ++at) {
    if (!isDigit(driver[at]) || !isWordBegin(driver, at)) continue;
    auto [version, length] = leadingVersion(driver.substr(at));
    if (version.size() > 1) return {std::move(version), at};
  }
  return {{}, driver.size()};
}

/// The words with one space between.
std::string wordsOf(std::string_view text) {
  std::istringstream stream{std::string(text)};
  std::string words;
  for (std::string word; stream >> word;) words += (words.empty() ? "" : " ") + word;
  return words;
}

}  // namespace

DriverVersion driverVersionOf(std::string_view driver) { return findVersion(driver).first; }

std::string driverSeriesOf(std::string_view driver) {
  const auto [version, at] = findVersion(driver);
  std::string_view before = driver.substr(0, at);
  if (!version.empty() && before.ends_with('v')) before.remove_suffix(1);
  std::string name = wordsOf(before);
  if (version.empty() || name.empty()) return wordsOf(driver);
  constexpr std::string_view kProject = " Mesa";  // drivers of Mesa put it before the version
  if (name.ends_with(kProject)) name.resize(name.size() - kProject.size());
  return fmt::format("{}-{}", name, version.front());
}

std::string toString(const DriverVersion& version) { return fmt::format("{}", fmt::join(version, ".")); }

bool DriverRange::includes(const DriverVersion& version) const {
  return !isBelow(version, first) && !isAbove(version, last);
}

std::string DriverRange::toString() const {
  const std::string from = harness::toString(first), to = harness::toString(last);
  return from == to ? from : from + ".." + to;
}

Result<DriverRange> parseDriverRange(std::string_view text) {
  const size_t dots = text.find("..");
  const std::string_view from = text.substr(0, dots), to = dots == text.npos ? from : text.substr(dots + 2);
  const auto first = from.empty() ? DriverVersion() : wholeVersion(from);
  const auto last = to.empty() ? DriverVersion() : wholeVersion(to);
  if (!first || !last || (first->empty() && last->empty()))
    return Status::invalidArgument(
        "expected versions of drivers such as 22.3..25.0, 22.3.., ..25.0 or 22.3.6, got '{}'", text);
  if (isAbove(*first, *last)) return Status::invalidArgument("no version lies in '{}'", text);
  return DriverRange{*first, *last};
}

}  // namespace opkit::harness
