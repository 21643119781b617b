#include "reports/sparkline.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <sstream>
#include <vector>

#include "reports/report_data.h"

namespace opkit::reports {
namespace {

constexpr double kWidth = 140, kHeight = 28, kMargin = 3;
constexpr size_t kMostNights = 90;
constexpr int kPixel = 6, kMostCells = 128;

}  // namespace

std::string sparkline(std::span<const double> times) {
  if (times.size() > kMostNights) times = times.last(kMostNights);
  std::vector<double> known;
  std::ranges::copy_if(times, std::back_inserter(known), [](double v) { return std::isfinite(v); });
  if (known.size() < 2) return "";
  // From three quarters of the largest value up, so that a tenth more is seen, or from the least.
  const double most = std::ranges::max(known), low = std::min(std::ranges::min(known), 0.75 * most);
  const double step = (kWidth - 2 * kMargin) / static_cast<double>(times.size() - 1);
  std::string points, dot;
  for (size_t i = 0; i < times.size(); ++i) {
    if (!std::isfinite(times[i])) continue;
    const double x = kMargin + step * static_cast<double>(i);
    const double y = kHeight - kMargin - (most > low ? (times[i] - low) / (most - low) : 0) * (kHeight - 2 * kMargin);
    points += fmt::format("{:.1f},{:.1f} ", x, y);
    dot = fmt::format(R"(<circle cx="{:.1f}" cy="{:.1f}" r="2.5"/>)", x, y);
  }
  points.pop_back();
  const std::string title = fmt::format("{} nights: first {}, least {}, last {}", known.size(), formatNs(known.front()),
                                        formatNs(std::ranges::min(known)), formatNs(known.back()));
  return fmt::format(
      R"(<svg class="spark" role="img" aria-label="{0}" width="{1}" height="{2}" viewBox="0 0 {1} {2}"><title>{0}</title><polyline points="{3}"/>{4}</svg>)",
      title, kWidth, kHeight, points, dot);
}

std::string errorPicture(const std::string& map) {
  std::string cells;
  int rows = 0, columns = 0;
  std::istringstream lines(map);
  for (std::string line; rows < kMostCells && std::getline(lines, line); ++rows) {
    line.resize(std::min<size_t>(line.size(), kMostCells));
    columns = std::max(columns, static_cast<int>(line.size()));
    for (size_t i = 0; i < line.size(); ++i)
      if (line[i] == '#' || line[i] == '+')
        cells +=
            fmt::format(R"(<rect class="{}" x="{}" y="{}" width="{}" height="{}"/>)", line[i] == '#' ? "all" : "some",
                        static_cast<int>(i) * kPixel, rows * kPixel, kPixel - 1, kPixel - 1);
  }
  if (cells.empty()) return "";
  return fmt::format(
      R"(<svg class="map" role="img" aria-label="where the errors are" width="{0}" height="{1}" viewBox="0 0 {0} {1}">{2}</svg>)",
      columns * kPixel, rows * kPixel, cells);
}

}  // namespace opkit::reports
