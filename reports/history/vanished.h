// Vanished: cases that were measured night by night and are missing tonight.
//
// A case that is gone fails no check and has no time that could grow, so that nothing else speaks of it. Nights draw
// other cases each day: such samples must not cry wolf. See readVanished for the rule.
#pragma once

#include <string>
#include <vector>

#include "reports/history/sqlite.h"

namespace opkit::reports {

struct Vanished {
  std::string kind, caseId, backend, device, options;
  std::string lastNight;              // on which it was measured
  size_t measured = 0, compared = 0;  // nights with the case, of so many before tonight
  std::string repeat;                 // its command

  /// "bench Relu/f32[3]/normal/seed=7 on vulkan: last measured 2026-01-08, on 10 of the 10 nights before"
  std::string what() const;
};

/// "3 timed or checked cases vanished"; empty without any.
std::string vanishedSummary(const std::vector<Vanished>& vanished);

/// Cases that ran on at least 8 of the last 10 nights of their kind, device and options, and are absent from the newest
/// night although others of that kind, device and options ran in it. A driver update changes nothing. A night with a
/// run that lacks its end does not count; if it is the newest, no case is named. Nothing is named either if cases used
/// to be absent on some nights and to return: then they are a sample. By kind and id.
Result<std::vector<Vanished>> readVanished(const Database& database);

}  // namespace opkit::reports
