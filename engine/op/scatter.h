// Scatter: parts of the cards and oracles of scatter operators. Inputs are data, indices and updates, in that order;
// the output is the data with the updates written to it, or folded into it, where the indices say.
//
// Pure functions, thread-safe.
#pragma once

#include "engine/op/combine.h"
#include "engine/op/op_def.h"

namespace opkit {

/// Whether updates can meet the data so. The enum of a schema has the choices none, add, mul, max, min in this order,
/// so a cast makes a Combine of it. InvalidArgument for a number that is no Combine and for updates of another dtype
/// than the data.
Status checkCombine(Combine combine, const ShapeArgs& args);

/// For oracles: the output is the data; then output[places[i]] takes in update i, for each i in turn. Gives the output
/// the figures of NumericClass Sum: elements that no rounding touches have magnitude 0, which is exact.
Status scatterAt(Combine combine, const std::vector<int64_t>& places, const OracleArgs& args);

}  // namespace opkit
