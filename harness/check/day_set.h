// The day's set of `check`: what fits its budget. Chosen by estimates and the day alone, so it is equal on every
// machine.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "harness/cases/case_file.h"

namespace opkit::harness {

/// Seconds on two cores, the number of the day, and operators that are being edited. The draws have a share; the core
/// has one too and rotates if it takes more.
struct DayBudget {
  double seconds = 180;
  uint64_t day = 0;
  std::set<std::string> edited = {};

  static constexpr double kCores = 2, kDrawnShare = 0.35, kCoreShare = 0.6;
  static constexpr double kWholeShare = 0.4;    // of what core and draws leave; the rest is for brief checks
  static constexpr double kYield = 0.52;        // starting workers, drawing cases and compiling shaders take the rest
  static constexpr double kEditedSeconds = 30;  // beyond `seconds`, if an operator is edited
  double coreSeconds() const { return seconds * kCores * kYield; }
  double editedSeconds() const { return kEditedSeconds * kCores * kYield; }
};

inline constexpr double kBriefShare = 0.2;  // of the time of a case, if it is checked briefly

/// Groups of a catalogue. The numbers are of written cases; draws are all in the set.
struct DaySet {
  // In whole: those of edited operators first, smallest first, then the core, then draws, then the others of the day.
  std::vector<size_t> groups;
  std::vector<size_t> brief;      // further ones, in one Session each (PreparedGroup::brief)
  size_t cases = 0;               // written ones, in whole
  size_t briefCases = 0;          // written ones, briefly
  size_t allCases = 0;            // written ones of the catalogue
  size_t editedCases = 0;         // written ones of edited operators, in whole
  size_t allEditedCases = 0;      // written ones of edited operators
  size_t coreDays = 1, days = 1;  // after which the core, every case has been checked in whole
  double seconds = 0;             // estimate for one core

  /// "day 20783: 4120 of 24210 written cases in whole (17 %), 9000 briefly (37 %); all in whole within 24 days; ..."
  std::string toString(const DayBudget& budget) const;
};

/// The core of harness/cases/costs.h and every drawn case. Of the other groups those with hash = day modulo
/// DaySet::days in whole, and further ones briefly, the cheap ones on more days: a group's days are as the square root
/// of its seconds per case, which finds most faults in a given time if each case is as likely to find one. Operators
/// without estimates are in the core. All groups of edited operators are in whole if they fit in 30 s more than
/// the budget leaves; else as many as fit, others each day, and the others briefly.
DaySet daySet(const Catalogue& catalogue, const OpRegistry& registry, const DayBudget& budget);

}  // namespace opkit::harness
