// judge: what changed, in which series, since when, and whether the machine or the code is to blame.
//
// Looks at the last `window` nights of each series, so that a night costs the same after ten years as after two months.
// Deterministic: the same history gives the same findings. Thread-safe. 10,000 series take a second or two on one core.
// docs/decisions/0038-detector.md has the method, its settings and its measured errors.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "reports/detect/series.h"

namespace opkit::reports::detect {

struct Settings {
  size_t window = 50;           // nights that are looked at
  size_t leastRuns = 7;         // process runs of a noisy series; nights with fewer are joined with those before
  size_t leastNights = 8;       // of a noisy series, joined or not, before it is judged
  size_t leastExactNights = 2;  // of any other series: one before tonight
  size_t recentNights = 10;     // changes up to this age are tonight's family; older ones have a family of their own
  double falseDiscoveryRate = 0.2;  // per night, over all series
  size_t leastHypotheses = 0;       // counts at least so many series: a part is judged as strictly as the whole
  double strictP = 1e-3;            // of a change point, before the correction for many series
  double leastNoisyEffect = 0.02;   // a time or rate that moves less is the same
  double leastSpreads = 3.2;        // ... or that moves less than this many standard deviations of a night
  double leastAccuracyEffect = 0.25;
  double jumpFactor = 3;          // an accuracy that moves by this factor is a finding after one night
  double noiseFloor = 0.003;      // relative; no time is believed to be steadier
  double calibrationMove = 0.02;  // relative; and beyond 3 standard deviations of the nights before
  double confidence = 0.95;       // of the interval
  size_t resamples = 200;         // of the bootstrap
  uint64_t seed = 7;
};

enum class Verdict { Better, Worse, Same, InsufficientData };

/// "better", "worse", "same", "insufficient data".
const char* nameOf(Verdict verdict);

/// State of a digest series.
enum class Bits {
  None,  // the series is no digest
  Same,
  OnlyBits,      // bits changed, error did not
  WithError,     // bits changed and so did an error of the same case, which is a series of its own
  ErrorUnknown,  // bits changed; no error of this case is recorded
  Unstable,      // bits differ on many nights: no finding
};

/// "bits changed, error did not" and the like; empty for None.
const char* nameOf(Bits bits);

/// The last change of a series within the window.
struct Change {
  uint32_t lastGood = 0, firstBad = 0;  // nights of the timeline; "good" is the level before, also of an improvement
  double from = 0, to = 0;              // levels, in the unit of the series
  double ratio = 1, low = 1, high = 1;  // to / from, with the interval (Size and Score: also a ratio); may be infinite
  double p = 1;                         // 0 of an exact metric
  size_t nightsAfter = 0;               // measured nights since, firstBad included
  bool jump = false;                    // accepted after one night
  std::vector<std::string> moved;       // of the environment, at the same point: "driver", "calibration", ...
};

struct SeriesVerdict {
  Verdict verdict = Verdict::InsufficientData;
  Bits bits = Bits::None;
  bool fresh = false;            // not found last night
  std::optional<Change> change;  // of Better, Worse and changed bits
};

enum class FindingKind { Worse, Better, Bits };

/// Series that moved together: the same timeline, night and direction, and a shared operator, backend or provider.
struct Finding {
  FindingKind kind = FindingKind::Worse;
  uint32_t timeline = 0;
  uint32_t lastGood = 0, firstBad = 0;  // nights
  std::string goodCommit, badCommit;
  std::vector<uint32_t> series;    // indices in History::series, largest change first
  std::vector<std::string> moved;  // environment that moved at the same point; empty: the commits are to blame
  SeriesKey shared;                // fields that all series have in common; others are empty
  bool fresh = false;              // at least one series was not found last night
};

struct Judgement {
  std::vector<SeriesVerdict> series;  // one for each of History::series
  std::vector<Finding> findings;      // fresh first, then by number of series
  double cutoff = 0;                  // p up to which recent changes of noisy series are accepted
};

/// Judges the last night of every timeline.
Judgement judge(const History& history, const Settings& settings);

}  // namespace opkit::reports::detect
