// ForeignTable: numbers of other programs on their way to ForeignSeries, which readers of each form fill.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "reports/history/foreign_series.h"

namespace opkit::reports {

class ForeignTable {
 public:
  /// `form` is the provider of all series.
  ForeignTable(std::string form, bool higherIsBetter) : form_(std::move(form)), higherIsBetter_(higherIsBetter) {}

  /// Index of the night called `name`; a new one comes last.
  uint32_t night(std::string_view name);
  Night& at(uint32_t night) { return nights_[night]; }
  Environment& environmentAt(uint32_t night) { return environments_[night]; }

  /// Adds a process run. Times in ns, us, ms and s become ns. A value of 0 is counted and left out. InvalidArgument if
  /// the value is negative or not finite, or the series had another kind of unit.
  Status add(std::string_view series, std::string_view unit, uint32_t night, double value);
  /// Counts what a note tells: "aggregates left out".
  void countNote(const std::string& what, size_t count = 1);
  void note(std::string text) { notes_.push_back(std::move(text)); }

  ForeignSeries finish();

 private:
  struct TextHash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  using Indices = std::unordered_map<std::string, uint32_t, TextHash, std::equal_to<>>;
  struct Value {
    uint32_t series, night;
    double value;
  };
  struct Measured {
    std::string name, unit;
  };

  std::vector<Series> emptySeries() const;

  std::string form_;
  bool higherIsBetter_;
  Indices nightIndices_, seriesIndices_;
  std::vector<Night> nights_;
  std::vector<Environment> environments_;
  std::vector<Measured> measured_;  // one per series
  std::vector<Value> values_;
  std::vector<std::pair<std::string, size_t>> counted_;
  std::vector<std::string> notes_;
};

/// Seconds since 1970 of "2026-01-31T23:59:59+01:00", "2026-01-31 23:59:59", "2015/03/17-18:40:25" or "2026-01-31"; UTC
/// unless an offset follows.
std::optional<int64_t> secondsOf(const std::string& date);

/// Rows of a CSV are added to the table. Errors name the line, not the file.
Status readForeignCsv(std::string_view text, ForeignTable& table);

}  // namespace opkit::reports
