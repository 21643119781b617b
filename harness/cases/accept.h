// Whether a drawn case is worth running. Part of fuzz and reach.
#pragma once

#include "harness/cases/case_file.h"

namespace opkit::harness {

/// What one drawn case may cost.
struct DrawLimits {
  int64_t elements = 400'000;  // of all inputs together, and of each output
  double flops = 3e7;          // of the oracle, which computes in double
  double seconds = 0.1;        // of check on each backend, by harness/cases/costs.h
};

/// Of check on the dearer of the built-in backends; infinity for a case with too many elements.
double estimatedSeconds(const Case& c, const OpDef& def);

/// A drawn case that takes longer on a backend is checked briefly there (kBrief).
inline constexpr double kLongDraw = 1;

/// OK, or the reason why the card or the oracle refuses the case, or why the case is too large or vacuous.
Status acceptDrawn(const OpDef& def, const OpRegistry& registry, const Case& c, const DrawLimits& limits);

/// Turns a variation of a written case into a drawn one, which a backend may refuse for any reason.
void markDrawn(Case& c, const std::string& name);

/// Declares the departures of `base` for drawn groups, none of which must happen, and moves the groups to `base`.
Status addDrawn(std::vector<CaseGroup> groups, Catalogue& base);

}  // namespace opkit::harness
