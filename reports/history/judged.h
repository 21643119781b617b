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
/// ... and whose nights name no commit.
inline constexpr const char* kUnknownSuspect = "unknown: the nights name no commit";

/// A group of series that moved together, worst first.
struct JudgedFinding {
  std::string what;     // "worse: 3 series of Softmax on vulkan, executeWall 1.12 times (1.09 to 1.15)"
  std::string since;    // "between 2026-01-03 (a1b2c3) and 2026-01-04 (d4e5f6)"
  std::string suspect;  // kTheCode, kUnknownSuspect, or the part of the environment that moved at the same point
  std::vector<std::string> series;
  std::string repeat;           // the command that repeats the case that moved most; empty for others' numbers
  std::string compare;          // commands that compare the two builds in turns; empty unless times moved
  std::vector<uint32_t> lines;  // of its series, indices in Judged::lines
  bool worse = false;
  bool fresh = false;  // not found the night before
};

/// A series over the nights, across updates of its driver.
struct JudgedLine {
  SeriesKey key;                  // without its driver
  std::vector<uint32_t> nights;   // indices in Judged::nights, rising
  std::vector<double> values;     // the median of each night's process runs
  detect::SeriesVerdict verdict;  // nights of the change are indices in Judged::nights
  size_t timeline = 0;            // index in Judged::moved
};

/// A night on which facts of a device or its machine differ from those of the measured night before.
struct MovedNight {
  uint32_t night = 0;             // index in Judged::nights
  std::vector<std::string> what;  // "driver", "compiler", ...
};

struct Judged {
  size_t better = 0, worse = 0, same = 0, insufficient = 0;  // series
  std::string night;                                         // the newest
  std::vector<JudgedFinding> findings;
  std::vector<Night> nights;                   // of the history, oldest first
  std::vector<JudgedLine> lines;               // of times; of other metrics those that changed
  std::vector<std::vector<MovedNight>> moved;  // by timeline
  Halves halves;

  /// "2 findings are new (1 worse); 1204 series: 3 worse, 1 better, 1100 same, 100 with insufficient data"
  std::string summary() const;
};

/// The detector's form of series: drivers of a device joined, one timeline for each device.
detect::History historyOf(const std::vector<Night>& nights, const std::vector<Environment>& environments,
                          const std::vector<Series>& all);

/// Judges the newest night of every timeline. `nights` and `environments` are those to which `all` refers; all series
/// are judged, whatever their metric.
Judged judgeSeries(const std::vector<Night>& nights, const std::vector<Environment>& environments,
                   const std::vector<Series>& all, const detect::Settings& settings = {});

/// The same of a store. Series of status are left out: nights.h compares those.
Result<Judged> judgeStore(const Store& store, const detect::Settings& settings = {});

}  // namespace opkit::reports
