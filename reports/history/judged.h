// Judged: the findings of a history's newest night, as text for the command line and the page.
//
// Timelines are devices under one set of options. A device keeps its timeline across updates of its driver, so that the
// detector can say that the driver moved; where one night has two drivers, each has a timeline.
#pragma once

#include <string>
#include <vector>

#include "reports/detect/judge.h"
#include "reports/history/halves.h"
#include "reports/history/store.h"

namespace opkit::reports {

/// The suspect of a finding at whose point no part of the environment moved.
inline constexpr const char* kTheCode = "the code";

/// A group of series that moved together, worst first.
struct JudgedFinding {
  std::string what;     // "worse: 3 series of Softmax on vulkan, executeWall 1.12 times (1.09 to 1.15)"
  std::string since;    // "between 2026-01-03 (a1b2c3) and 2026-01-04 (d4e5f6)"
  std::string suspect;  // kTheCode, or the part of the environment that moved at the same point
  std::vector<std::string> series;
  std::string repeat;   // the command that repeats the case that moved most
  std::string compare;  // commands that compare the two builds in turns; empty unless times moved
  bool worse = false;
  bool fresh = false;  // not found the night before
};

/// A time that moved.
struct JudgedChange {
  std::string caseId, backend, provider, options, metric;
  size_t night = 0;  // the first one at the new level: index into Store::nights()
  std::string what;  // "1.12 times as long (1.09 to 1.15)"
};

struct Judged {
  size_t better = 0, worse = 0, same = 0, insufficient = 0;  // series
  std::string night;                                         // the newest
  std::vector<JudgedFinding> findings;
  std::vector<JudgedChange> changes;
  Halves halves;

  /// "2 findings are new (1 worse); 1204 series: 3 worse, 1 better, 1100 same, 100 with insufficient data"
  std::string summary() const;
};

/// Judges the newest night of every timeline. Series of status are left out: nights.h compares those.
Result<Judged> judgeStore(const Store& store, const detect::Settings& settings = {});

}  // namespace opkit::reports
