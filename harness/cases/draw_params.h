// Random parameters of an operator, from the schema that its card embeds. Part of fuzz.
#pragma once

#include "engine/op/params.h"
#include "harness/cases/rng.h"

namespace opkit::harness {

/// A JSON object that sets some of the table's fields. `rank` of the first input is a likely length for lists.
std::string drawParams(const ParamsSchema& schema, size_t rank, Rng& rng);

}  // namespace opkit::harness
