#include "reports/detect/environment.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "reports/detect/student.h"

namespace opkit::reports::detect {
namespace {

struct TextFact {
  const char* name;
  std::string Environment::*text;
};
constexpr std::array kTexts = {TextFact{"driver", &Environment::driver}, TextFact{"compiler", &Environment::compiler},
                               TextFact{"host", &Environment::host}, TextFact{"kernel", &Environment::kernel}};

/// Whether a text differs between two successive known values within nights [first, last].
bool textMoved(const Timeline& timeline, const std::string Environment::*text, size_t first, size_t last) {
  const std::string* known = nullptr;
  for (size_t i = first; i <= last; ++i) {
    const std::string& now = timeline.nights[i].environment.*text;
    if (now.empty()) continue;
    if (known && *known != now) return true;
    known = &now;
  }
  return false;
}

std::vector<double> logCalibrations(const Timeline& timeline, size_t first, size_t end) {
  std::vector<double> logs;
  for (size_t i = first; i < end; ++i)
    if (const double value = timeline.nights[i].environment.calibration; std::isfinite(value) && value > 0)
      logs.push_back(std::log(value));
  return logs;
}

bool calibrationMoved(const Timeline& timeline, size_t firstBad, const Settings& settings) {
  const size_t first = firstBad > settings.window ? firstBad - settings.window : 0;
  std::vector<double> before = logCalibrations(timeline, first, firstBad),
                      after = logCalibrations(timeline, firstBad, timeline.nights.size());
  if (before.empty() || after.empty()) return false;
  const double level = medianInPlace(before), move = std::fabs(medianInPlace(after) - level);
  for (double& value : before) value = std::fabs(value - level);
  return move >= std::log1p(settings.calibrationMove) && move > 3 * 1.4826 * medianInPlace(before);
}

}  // namespace

std::vector<std::string> movedFacts(const Timeline& timeline, uint32_t lastGood, uint32_t firstBad, bool exact,
                                    const Settings& settings) {
  const size_t slack = exact ? 0 : 1;
  const size_t first = lastGood > slack ? lastGood - slack : 0,
               last = std::min<size_t>(firstBad + slack, timeline.nights.size() - 1);
  std::vector<std::string> moved;
  // A calibration says nothing about errors and sizes.
  if (!exact && calibrationMoved(timeline, firstBad, settings)) moved.emplace_back("calibration");
  for (const TextFact& fact : kTexts)
    if (textMoved(timeline, fact.text, first, last)) moved.emplace_back(fact.name);
  return moved;
}

}  // namespace opkit::reports::detect
