// Departures: what a case file says about other providers of its operator: "this library's result for these cases is
// outside the bound, and here is why". Such cases run like all others. One that a departure names must be outside the
// bound: when it is not, the declaration is stale and the case fails; so does a case that departs undeclared.
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
  bool required = true;  // false where the data is not what the declaration was made for: another seed, a drawn case
};
using CaseDepartures = std::map<std::string, CaseDeparture>;  // by provider

/// One entry of "departures" and one of its patterns.
struct Departure {
  std::string provider;
  std::string pattern;  // of ids without their seed; `*` is anything; `~` in front: on some processors
  std::string reason;
};

bool matchesPattern(const std::string& pattern, const std::string& text);

/// Marks the cases that the departures name. With `required`, InvalidArgument for one that names none.
Status applyDepartures(const std::vector<Departure>& departures, bool required, std::vector<CaseGroup>& groups);

}  // namespace opkit::harness
