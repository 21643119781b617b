// The values of the lane `edges`: the ends of a dtype, halves, and both sides of the places where a function or a
// kernel changes its expression (OpDef::edges, and the numbers among a case's parameters).
#pragma once

#include <vector>

#include "engine/op/op_def.h"
#include "harness/cases/case.h"

namespace opkit::harness {

/// Numbers of a float dtype: both zeros, the least and the largest denormal, the least normal and the two largest
/// numbers, 1/2, 1, 3/2, 5/2, and the `points` with their neighbours; each of both signs.
std::vector<double> edgeReals(DType dtype, const std::vector<double>& points);

/// Integers: the limits and their neighbours, -2 to 3, and the whole `points` with theirs, of both signs. Those of
/// uint64 as their bits. Bool: 0 and 1.
std::vector<int64_t> edgeIntegers(DType dtype, const std::vector<double>& points);

/// The points of a case: those of the card, and the numbers among the parameters, given or by default.
std::vector<double> edgePoints(const OpDef& def, const std::string& params);

/// The number of edges of input `index`, or 0 if the lane does not decide about it.
size_t edgeCount(const Case& c, const OpDef& def, size_t index);

/// Inputs of equal shapes have every edge of one with every edge of another from this many elements on.
size_t edgeElements(const Case& c, const OpDef& def);

}  // namespace opkit::harness
