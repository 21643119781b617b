// lineData: series over the nights for the page: recent nights one by one, older ones by weeks.
#pragma once

#include <nlohmann/json.hpp>

#include "reports/history/judged.h"

namespace opkit::reports {

/// Nights older than this are joined by sevens: a value is then the median of their values.
inline constexpr size_t kSingleNights = 60;

/// {"slots": [{"name", "commit", "nights"}], "moved": [[[slot, "driver, compiler"]]], "lines": [...]}: see
/// docs/history.md.
nlohmann::json lineData(const Judged& judged);

/// Four significant digits; null if it is no finite number.
nlohmann::json figure(double value);
/// The same of an error, which may be "nan" or "inf".
nlohmann::json errorFigure(double value);

}  // namespace opkit::reports
