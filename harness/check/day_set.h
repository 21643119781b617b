// The day's set of `check`: what fits its budget. Chosen by estimates and the day alone, so it is equal on every
// machine.
#pragma once

#include "harness/cases/case_file.h"

namespace opkit::harness {

/// Seconds on two cores, and the number of the day. The draws have a share; the core has one too and rotates if it
/// takes more.
struct DayBudget {
  double seconds = 180;
  uint64_t day = 0;

  static constexpr double kCores = 2, kDrawnShare = 0.35, kCoreShare = 0.6;
  static constexpr double kYield = 0.6;  // starting workers, drawing cases and compiling shaders take the rest
  double coreSeconds() const { return seconds * kCores * kYield; }
};

/// Groups of a catalogue. The numbers are of written cases; draws are all in the set.
struct DaySet {
  std::vector<size_t> groups;      // those of the core first, then draws, then the others of the day
  size_t cases = 0, allCases = 0;  // written ones: in the set, in the catalogue
  size_t coreDays = 1, days = 1;   // after which the core, every case has been checked
  double seconds = 0;              // estimate for one core

  /// "day 20783: 4120 of 51210 written cases (8 %), all within 24 days; estimated ..."
  std::string toString(const DayBudget& budget) const;
};

/// The core of harness/cases/costs.h, every drawn case, and of the other groups those with hash = day modulo
/// DaySet::days. Operators without estimates are in the core.
DaySet daySet(const Catalogue& catalogue, const OpRegistry& registry, const DayBudget& budget);

}  // namespace opkit::harness
