// Trials of the detector on noise with and without changes.
#pragma once

#include "reports/detect/evaluate/noise.h"
#include "reports/detect/judge.h"

namespace opkit::reports::detect {

struct TrialSettings {
  size_t series = 10000;   // unchanged series of a night
  size_t nights = 30;      // judged, after the nights before
  size_t before = 60;      // nights, or joined ones, of history before the first judged one
  size_t injected = 1000;  // series per injected change
  NoiseSettings noise;
  Settings detector;
  uint64_t seed = 1;
};

/// Nights that the detector joins, since one has fewer process runs than it needs.
size_t joinedNights(const TrialSettings& settings);

struct FalseFindings {
  size_t series = 0;    // that were called better or worse for the first time on one of the nights
  size_t findings = 0;  // groups of them
  size_t nights = 0;
  double secondsPerNight = 0;  // of judge

  double perNight() const { return static_cast<double>(series) / static_cast<double>(nights); }
};
/// Judges unchanged series night by night. The first judgement finds what chance did in all nights before; it does not
/// count.
FalseFindings countFalseFindings(const std::vector<Residuals>& residuals, const TrialSettings& settings);

/// Share of injected slow-downs (0.1: 10 %) that are found within 1, 2 and 3 nights, or joined ones, in series filled
/// up to `spread`. Each is judged as the only change among `settings.series`.
struct FoundShare {
  size_t trials = 0;
  double within[3] = {};
};
FoundShare injectSlowDowns(const std::vector<Residuals>& residuals, double change, double spread,
                           const TrialSettings& settings);

/// Share of margins and ULPs that jump by `factor` and are found the next morning. Half of the series are the same
/// every night, half fluctuate by 10 %.
double injectJumps(double factor, const TrialSettings& settings);

}  // namespace opkit::reports::detect
