// Halves: the newest night against itself.
//
// The process runs of one night measure one build. Its runs in two halves, taken in turns, must not differ: each
// difference that the test finds is a false alarm. The detector asks for a second night, so that it sees fewer.
#pragma once

#include <string>
#include <vector>

#include "reports/history/store.h"

namespace opkit::reports {

struct Halves {
  size_t times = 0;                 // figures with two or more process runs in both halves
  size_t runs = 0;                  // of most of these figures
  std::vector<std::string> differ;  // those that Welch's test calls different at a false discovery rate of 5 %

  /// "A/A: the 7 process runs of tonight in two halves: 1 of 2412 times differs"
  std::string summary() const;
};

/// Compares the halves of the newest night; `times` is 0 if it has fewer than four process runs of a figure.
Halves compareHalves(const std::vector<Night>& nights, const std::vector<Series>& all);

/// The same of every night.
struct HalvesOfNights {
  size_t nights = 0;  // with four or more process runs of a figure
  size_t times = 0;   // figures of these nights
  size_t differ = 0, nightsThatDiffer = 0;

  /// "A/A: the process runs of 50 nights in two halves: 12 of 5000 pairs differ (0.24 %), in 3 nights"
  std::string summary() const;
};
HalvesOfNights compareHalvesOfNights(const std::vector<Night>& nights, const std::vector<Series>& all);

}  // namespace opkit::reports
