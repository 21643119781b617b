// Scatter: what the cards and oracles of scatter operators share. Inputs are data, indices and updates, in that order;
// the output is the data with the updates written to it, or folded into it, where the indices say.
//
// Pure functions, thread-safe.
#pragma once

#include "engine/op/combine.h"
#include "engine/op/op_def.h"

namespace opkit {

/// How updates meet the data. InvalidArgument for an unknown reduction, updates of another dtype than the data, and
/// arithmetic on bool.
Result<Combine> combineOf(const std::string& reduction, const ShapeArgs& args);

/// For oracles: the output is the data; then output[places[i]] takes in update i, for each i in turn. Gives the output
/// the figures of NumericClass Sum: elements that no rounding touches have magnitude 0, which is exact.
Status scatterAt(const std::string& reduction, const std::vector<int64_t>& places, const OracleArgs& args);

}  // namespace opkit
