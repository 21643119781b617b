// Departures: cases for which a case file declares, with a reason, that the result of another provider is outside the
// bound, and by how much at most. Such cases run like all others. A declared case must be outside the bound; if it is
// not, the declaration is stale and the case fails. A case that departs undeclared, or further than declared, fails
// too.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "engine/base/status.h"

namespace opkit::harness {

struct CaseGroup;

/// Of one case.
struct CaseDeparture {
  std::string reason;
  bool required = true;  // false if the data differs from that of the declaration: another seed, a drawn case
  double most = 0;       // the largest error, in bounds; 0 where values are compared by class
};
using CaseDepartures = std::map<std::string, CaseDeparture>;  // by provider

/// One entry of "departures" and one of its patterns.
struct Departure {
  std::string provider;
  std::string pattern;  // of ids without their seed; `*` matches anything; leading `~`: on some processors
  std::string reason;
  double most = 0;  // CaseDeparture::most; 0 if not given
};

bool matchesPattern(const std::string& pattern, const std::string& text);

/// Marks the cases that the departures name; of several, the first counts. InvalidArgument for a departure without
/// `most` that names a case compared by value and, with `required`, for one that names no case.
Status applyDepartures(const std::vector<Departure>& departures, bool required, std::vector<CaseGroup>& groups);

}  // namespace opkit::harness
