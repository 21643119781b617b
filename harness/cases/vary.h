// Variations of a case: the same operator at other shapes, for resize walks, for shrinking and for draws.
#pragma once

#include <vector>

#include "engine/op/op_def.h"
#include "harness/cases/case.h"
#include "harness/cases/rng.h"

namespace opkit::harness {

/// One of a list that is not empty.
template <class List>
auto pick(const List& list, Rng& rng) {
  return list[rng.next() % std::size(list)];
}

/// Replaces every extent `from` by `to` in all inputs, so that extents that must agree still do.
Case withExtent(const Case& c, int64_t from, int64_t to);

/// Different extents of the case's inputs, largest first.
std::vector<int64_t> extentsOf(const Case& c);

/// The shape of input 0; null if there is none.
const Shape* firstShape(const Case& c);

/// An input of data: its port needs no values, and no form fixes them.
bool isData(const Case& c, const OpDef& def, size_t input);

bool hasForm(const Case& c, size_t input);
/// Gives the input a form of data, and the case the lane of designed data.
void setForm(Case& c, size_t input, const std::string& form);

/// The case with extent `to` along axis `axis` of input `input`, which must have one above 0 there: with the others as
/// they are, or ever smaller; changed wherever this extent occurs, or along that axis of that input alone.
std::vector<Case> grown(const Case& c, size_t input, size_t axis, int64_t to);

/// Shapes for a walk around one case: larger by one and down to 1, with unchanged constants. The shape rule may refuse
/// some.
std::vector<Case> walkStops(const Case& c);

}  // namespace opkit::harness
