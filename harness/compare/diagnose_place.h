// Where wrong elements lie: lanes, tails, edges, borders, one slice, everything after an element. Part of diagnose.
#pragma once

#include <optional>

#include "harness/compare/diagnose.h"

namespace opkit::harness {

/// The most specific place that holds every wrong element and few right ones; nullopt if there is none.
std::optional<Diagnosis> diagnosePlace(const Shape& shape, const std::vector<bool>& wrong);

}  // namespace opkit::harness
