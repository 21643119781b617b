// Input data of a case, by lane and by form (harness/cases.md). Seeded by the identity of the input, so equal ids mean
// equal bytes on every machine. Values are rounded to the dtype here, before any use.
#pragma once

#include <optional>
#include <vector>

#include "engine/op/op_def.h"
#include "harness/cases/case.h"

namespace opkit::harness {

/// Host tensor for input `index`, which is not absent. OutOfMemory if too large.
Result<Tensor> makeInput(const Case& c, const OpDef& def, size_t index);
/// Host tensors for every input of the case; nullopt for an absent input. OutOfMemory if too large.
Result<std::vector<std::optional<Tensor>>> makeInputs(const Case& c, const OpDef& def);

/// Fills a host tensor with a form {"values": [..]} or {"value": v}.
void fillValues(const Tensor& tensor, const std::string& form);

/// Fills a host tensor uniformly from [low, high] (whole numbers for integers, a coin for bool).
void fillUniform(const Tensor& tensor, uint64_t seed, double low, double high);

}  // namespace opkit::harness
