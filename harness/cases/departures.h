// Departures: cases for which a case file declares, with a reason, that the result of another provider is outside the
// bound. Such cases run like all others. A declared case must be outside the bound; if it is not, the declaration is
// stale and the case fails. A case that departs undeclared fails too.
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
};
using CaseDepartures = std::map<std::string, CaseDeparture>;  // by provider

/// One entry of "departures" and one of its patterns.
struct Departure {
  std::string provider;
  std::string pattern;  // of ids without their seed; `*` matches anything; leading `~`: on some processors
  std::string reason;
};

bool matchesPattern(const std::string& pattern, const std::string& text);

/// Marks the cases that the departures name. With `required`, InvalidArgument for a departure that names none.
Status applyDepartures(const std::vector<Departure>& departures, bool required, std::vector<CaseGroup>& groups);

}  // namespace opkit::harness
