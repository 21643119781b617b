#include "reports/history/foreign_table.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>

namespace opkit::reports {
namespace {

constexpr std::string_view kNs = "ns";

/// Nanoseconds in a unit of time; 0 for other units.
double nsIn(std::string_view unit) {
  if (unit == kNs) return 1;
  if (unit == "us" || unit == "µs") return 1e3;
  if (unit == "ms") return 1e6;
  return unit == "s" ? 1e9 : 0;
}

/// A name in one line of text.
std::string printable(std::string_view name) {
  std::string text(name);
  for (char& c : text)
    if (static_cast<unsigned char>(c) < ' ' || c == 0x7f) c = ' ';
  return text;
}

}  // namespace

uint32_t ForeignTable::night(std::string_view name) {
  if (const auto known = nightIndices_.find(name); known != nightIndices_.end()) return known->second;
  const auto index = static_cast<uint32_t>(nights_.size());
  nightIndices_.emplace(name, index);
  nights_.push_back({.name = printable(name)});
  environments_.emplace_back();
  return index;
}

Status ForeignTable::add(std::string_view series, std::string_view unit, uint32_t night, double value) {
  if (series.empty()) return Status::invalidArgument("expected a name, found none");
  if (!std::isfinite(value) || value < 0)
    return Status::invalidArgument("expected a value of at least 0 of '{}', found {}", printable(series), value);
  const double ns = nsIn(unit);
  const std::string_view kind = ns > 0 ? kNs : unit;
  auto known = seriesIndices_.find(series);
  if (known == seriesIndices_.end()) {
    known = seriesIndices_.emplace(series, static_cast<uint32_t>(measured_.size())).first;
    measured_.push_back({printable(series), std::string(kind)});
  }
  if (measured_[known->second].unit != kind)
    return Status::invalidArgument("expected the unit '{}' that '{}' had before, found '{}'",
                                   measured_[known->second].unit, printable(series), printable(unit));
  if (value == 0)
    countNote("values of 0 left out");
  else
    values_.push_back({known->second, night, ns > 0 ? value * ns : value});
  return Status::ok();
}

void ForeignTable::countNote(const std::string& what, size_t count) {
  if (count == 0) return;
  const auto known = std::ranges::find(counted_, what, &std::pair<std::string, size_t>::first);
  if (known == counted_.end())
    counted_.emplace_back(what, count);
  else
    known->second += count;
}

std::vector<Series> ForeignTable::emptySeries() const {
  std::vector<Series> all;
  for (const Measured& one : measured_) {
    Series series;
    series.key.kind = "series";
    series.key.caseId = one.name;
    series.key.op = one.name.substr(0, one.name.find('/'));
    series.key.provider = form_;
    series.key.metric = higherIsBetter_ ? "rate" : one.unit == kNs ? "time" : "value";
    all.push_back(std::move(series));
  }
  return all;
}

ForeignSeries ForeignTable::finish() {
  ForeignSeries result;
  result.series = emptySeries();
  std::ranges::stable_sort(values_, {}, &Value::night);
  for (const Value& value : values_) {
    Series& series = result.series[value.series];
    if (series.points.empty() || series.points.back().night != value.night)
      series.points.push_back(
          {.night = value.night, .environment = value.night, .first = static_cast<uint32_t>(series.values.size())});
    series.values.push_back(value.value);
    ++series.points.back().count;
  }
  std::erase_if(result.series, [](const Series& series) { return series.points.empty(); });
  std::ranges::stable_sort(result.series, {},
                           [](const Series& series) -> const std::string& { return series.key.caseId; });
  for (const auto& [what, count] : counted_) notes_.push_back(fmt::format("{} {}", count, what));
  result.nights = std::move(nights_);
  result.environments = std::move(environments_);
  result.notes = std::move(notes_);
  return result;
}

std::optional<int64_t> secondsOf(const std::string& date) {
  int year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0, used = 0;
  if (std::sscanf(date.c_str(), "%4d%*[-/]%2d%*[-/]%2d%n", &year, &month, &day, &used) != 3 || used == 0) return {};
  const std::chrono::year_month_day calendar{std::chrono::year(year), std::chrono::month(static_cast<unsigned>(month)),
                                             std::chrono::day(static_cast<unsigned>(day))};
  if (!calendar.ok()) return {};
  const char* rest = date.c_str() + used;
  int64_t seconds = std::chrono::sys_days(calendar).time_since_epoch().count() * int64_t{86400};
  if (*rest == 0) return seconds;
  used = 0;
  if (std::sscanf(rest, "%*[T -]%2d:%2d:%2d%n", &hour, &minute, &second, &used) != 3 || used == 0) return {};
  seconds += hour * 3600 + minute * 60 + second;
  int offsetHours = 0, offsetMinutes = 0;
  char sign = 0;
  if (std::sscanf(rest + used, "%c%2d:%2d", &sign, &offsetHours, &offsetMinutes) == 3 && (sign == '+' || sign == '-'))
    seconds -= (sign == '+' ? 1 : -1) * (offsetHours * 3600 + offsetMinutes * 60);
  return seconds;
}

}  // namespace opkit::reports
