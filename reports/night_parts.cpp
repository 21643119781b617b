#include "reports/night_parts.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <sstream>

#include "engine/base/checked_file.h"

namespace opkit::reports {
namespace {

constexpr size_t kRecentDays = 30;

std::optional<std::chrono::sys_days> dayOf(const std::string& date) {
  int year = 0;
  unsigned month = 0, day = 0;
  char more = 0;
  if (std::sscanf(date.c_str(), "%4d-%2u-%2u%c", &year, &month, &day, &more) != 3) return std::nullopt;
  const std::chrono::year_month_day whole{std::chrono::year(year), std::chrono::month(month), std::chrono::day(day)};
  return whole.ok() ? std::optional(std::chrono::sys_days(whole)) : std::nullopt;
}

/// "sync 10 2026-11-27 red: exit code 1"; a part that never ran has "never" and no verdict.
Result<NightPart> partOf(const std::string& line, std::chrono::sys_days today) {
  std::istringstream words(line);
  NightPart part;
  std::string minutes;
  words >> part.name >> minutes >> part.date;
  std::getline(words >> std::ws, part.verdict);
  if (part.date == "never") part.date.clear();
  const auto day = dayOf(part.date);
  if (part.name.empty() || minutes.empty() || (!part.date.empty() && (!day || part.verdict.empty())))
    return Status::invalidArgument("expected a part, its minutes, date and verdict, found '{}'", line);
  if (day) part.age = static_cast<size_t>(std::max<int64_t>((today - *day).count(), 0));
  return part;
}

}  // namespace

std::string NightParts::summary() const {
  size_t recent = 0, never = 0;
  std::vector<std::string> red;
  for (const NightPart& part : rows) {
    never += part.date.empty();
    recent += !part.date.empty() && part.age <= kRecentDays;
    if (part.verdict.starts_with("red")) red.push_back(part.name);
  }
  return fmt::format("{} of {} parts of the full night ran in the last {} days, {} never{}", recent, rows.size(),
                     kRecentDays, never, red.empty() ? "" : fmt::format("; red: {}", fmt::join(red, ", ")));
}

Result<NightParts> readNightParts(const std::string& path, const std::string& today) {
  OPKIT_ASSIGN(std::ifstream file, openLines(path, "the output of reports/night/parts.sh --list"));
  const auto day = dayOf(today);
  if (!day) return Status::invalidArgument("expected a date as 2026-01-31, got '{}'", today);
  NightParts parts;
  LineReader lines(file, path);
  for (lines.next(); lines.next();) {  // the first line names the columns
    auto part = partOf(lines.line(), *day);
    if (!part) return part.error().withContext(lines.where());
    parts.rows.push_back(*std::move(part));
  }
  OPKIT_TRY(lines.status());
  if (parts.rows.empty()) return Status::invalidArgument("{}: expected parts of the full night, found none", path);
  std::ranges::stable_sort(parts.rows, {}, &NightPart::date);
  return parts;
}

}  // namespace opkit::reports
