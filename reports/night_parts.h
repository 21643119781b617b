// Night parts: when each part of the full night ran last.
#pragma once

#include <string>
#include <vector>

#include "engine/base/status.h"

namespace opkit::reports {

struct NightPart {
  std::string name, date, verdict;  // date: 2026-01-31; empty if it never ran
  size_t age = 0;                   // days since, on the day of reading
};

struct NightParts {
  std::vector<NightPart> rows;  // those that never ran first, then the oldest

  /// "12 of 48 parts of the full night ran in the last 30 days, 36 never; red: sync"
  std::string summary() const;
};

/// Reads what `reports/night/parts.sh --list` printed; `today` is 2026-01-31. InvalidArgument names file and line.
Result<NightParts> readNightParts(const std::string& path, const std::string& today);

}  // namespace opkit::reports
