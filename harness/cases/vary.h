// Variations of a case: the same operator at other shapes, for resize walks and for shrinking.
#pragma once

#include <vector>

#include "harness/cases/case.h"

namespace opkit::harness {

/// Every extent `from` becomes `to`, in all inputs alike, so that extents that had to agree still do.
Case withExtent(const Case& c, int64_t from, int64_t to);

/// Different extents of the case's inputs, largest first.
std::vector<int64_t> extentsOf(const Case& c);

/// Shapes for a walk around one case: larger by one and down to 1, where its constants stay as they are. The shape rule
/// may refuse some.
std::vector<Case> walkStops(const Case& c);

}  // namespace opkit::harness
