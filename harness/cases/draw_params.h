// Random parameters of an operator, from the schema that its card embeds. Part of fuzz.
#pragma once

#include "engine/op/params.h"
#include "harness/cases/rng.h"

namespace opkit::harness {

/// A JSON object that sets some of the table's fields. `rank` of the first input is a likely length for lists.
std::string drawParams(const ParamsSchema& schema, size_t rank, Rng& rng);

/// A field of the table.
struct Attribute {
  std::string name;
  std::string standard;  // the value of an absent field, as the schema writes it
};
std::vector<Attribute> attributesOf(const ParamsSchema& schema);

/// A value for one field as JSON, as drawParams draws it; empty if the table has no such scalar or list.
std::string drawAttribute(const ParamsSchema& schema, const std::string& name, size_t rank, Rng& rng);

}  // namespace opkit::harness
