#include "reports/page/line_data.h"

#include <fmt/format.h>

#include <cmath>
#include <span>
#include <string>
#include <vector>

#include "reports/detect/student.h"

namespace opkit::reports {
namespace {

using Json = nlohmann::json;

constexpr size_t kWeek = 7;

/// Where each night stands on the axis of the page.
class Axis {
 public:
  explicit Axis(size_t nights) {
    const size_t old = nights > kSingleNights ? nights - kSingleNights : 0, weeks = (old + kWeek - 1) / kWeek;
    for (size_t night = 0; night < nights; ++night)
      // The first week is the short one.
      slots_.push_back(night < old ? weeks - 1 - (old - 1 - night) / kWeek : weeks + night - old);
  }

  size_t slot(size_t night) const { return slots_[night]; }
  size_t size() const { return slots_.empty() ? 0 : slots_.back() + 1; }

 private:
  std::vector<size_t> slots_;
};

Json slotsOf(const std::vector<Night>& nights, const Axis& axis) {
  Json slots = Json::array();
  for (size_t night = 0; night < nights.size(); ++night) {
    if (axis.slot(night) == slots.size()) slots.push_back({{"name", nights[night].name}, {"nights", 0}});
    Json& slot = slots.back();
    slot["commit"] = nights[night].commit.substr(0, 12) + (nights[night].dirty ? "+" : "");
    slot["nights"] = slot["nights"].get<size_t>() + 1;
  }
  return slots;
}

Json movedOf(const std::vector<MovedNight>& moved, const Axis& axis) {
  Json rows = Json::array();
  for (const MovedNight& one : moved)
    rows.push_back(Json::array({axis.slot(one.night), fmt::format("{}", fmt::join(one.what, ", "))}));
  return rows;
}

/// The values from the first slot on; null where there is none.
void addValues(const JudgedLine& line, const Axis& axis, Json& row) {
  const size_t first = axis.slot(line.nights.front());
  Json values = Json::array();
  std::vector<double> week;
  for (size_t i = 0; i < line.nights.size(); ++i) {
    const size_t slot = axis.slot(line.nights[i]);
    week.push_back(line.values[i]);
    if (i + 1 < line.nights.size() && axis.slot(line.nights[i + 1]) == slot) continue;
    while (values.size() < slot - first) values.push_back(nullptr);
    values.push_back(figure(detect::medianInPlace(week)));
    week.clear();
  }
  row["first"] = first;
  row["values"] = std::move(values);
}

Json changeOf(const detect::Change& change, const Axis& axis) {
  return {{"good", axis.slot(change.lastGood)}, {"bad", axis.slot(change.firstBad)},
          {"from", figure(change.from)},        {"to", figure(change.to)},
          {"ratio", figure(change.ratio)},      {"low", figure(change.low)},
          {"high", figure(change.high)},        {"moved", change.moved}};
}

Json lineOf(const JudgedLine& line, const Axis& axis) {
  const SeriesKey& key = line.key;
  Json row = {{"case", key.caseId},
              {"op", key.op},
              {"backend", key.backend},
              {"provider", key.provider},
              {"metric", key.metric},
              {"timeline", line.timeline},
              {"verdict", detect::nameOf(line.verdict.verdict)}};
  if (!key.options.empty()) row["options"] = key.options;
  if (line.verdict.fresh) row["fresh"] = true;
  if (line.verdict.change) row["change"] = changeOf(*line.verdict.change, axis);
  addValues(line, axis, row);
  return row;
}

}  // namespace

Json figure(double value) {
  if (!std::isfinite(value)) return nullptr;
  if (value == 0) return 0;
  const double scale = std::pow(10.0, 3 - std::floor(std::log10(std::fabs(value))));
  const double rounded = std::isfinite(scale) ? std::round(value * scale) / scale : value;
  if (std::fabs(rounded) < 1e15 && rounded == std::floor(rounded)) return static_cast<int64_t>(rounded);
  return rounded;
}

Json errorFigure(double value) {
  return std::isfinite(value) ? figure(value) : Json(fmt::format("{}", std::fabs(value)));
}

Json lineData(const Judged& judged) {
  const Axis axis(judged.nights.size());
  Json moved = Json::array(), lines = Json::array();
  for (const std::vector<MovedNight>& timeline : judged.moved) moved.push_back(movedOf(timeline, axis));
  for (const JudgedLine& line : judged.lines)
    if (!line.nights.empty())
      lines.push_back(lineOf(line, axis));
    else
      lines.push_back(nullptr);
  return {{"slots", slotsOf(judged.nights, axis)}, {"moved", std::move(moved)}, {"lines", std::move(lines)}};
}

}  // namespace opkit::reports
