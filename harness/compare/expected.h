// expectedOutputs: what an operator must give, by its oracle in double on the rounded inputs, not rounded.
#pragma once

#include <optional>
#include <vector>

#include "engine/op/op_def.h"

namespace opkit::harness {

/// Runs the shape rule and the oracle (for an operator without one, its regions). `outputCount` 0 asks for the
/// outputs the card requires. Errors are those of the shape rule and the oracle.
Result<std::vector<OracleTensor>> expectedOutputs(const OpDef& def, std::span<const uint8_t> paramBytes,
                                                  const std::vector<std::optional<Tensor>>& inputs, size_t outputCount);

/// The number of outputs a case asks for when it does not say: the required ones, at least one.
size_t requiredOutputs(const OpDef& def);

}  // namespace opkit::harness
