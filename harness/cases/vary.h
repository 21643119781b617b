// Variations of a case: the same operator at other shapes, for resize walks and for shrinking.
#pragma once

#include <vector>

#include "harness/cases/case.h"

namespace opkit::harness {

/// Replaces every extent `from` by `to` in all inputs, so that extents that must agree still do.
Case withExtent(const Case& c, int64_t from, int64_t to);

/// Different extents of the case's inputs, largest first.
std::vector<int64_t> extentsOf(const Case& c);

/// Shapes for a walk around one case: larger by one and down to 1, with unchanged constants. The shape rule may refuse
/// some.
std::vector<Case> walkStops(const Case& c);

}  // namespace opkit::harness
