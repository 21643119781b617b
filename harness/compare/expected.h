// expectedOutputs: the oracle's outputs in double for the rounded inputs, not rounded.
#pragma once

#include <optional>
#include <vector>

#include "engine/op/op_def.h"

namespace opkit::harness {

/// Runs the shape rule and the oracle. `outputCount` 0 asks for the outputs the card requires. Returns errors of the
/// shape rule and the oracle; Internal if the card has no oracle, Unsupported for an output of more than
/// `mostElements`.
Result<std::vector<OracleTensor>> expectedOutputs(const OpDef& def, std::span<const uint8_t> paramBytes,
                                                  const std::vector<std::optional<Tensor>>& inputs, size_t outputCount,
                                                  int64_t mostElements = kMaxElements);

/// The outputs that the shape rule gives. `outputCount` as above. Returns its errors.
Result<std::vector<TensorDesc>> outputDescs(const OpDef& def, std::span<const uint8_t> paramBytes,
                                            const std::vector<std::optional<Tensor>>& inputs, size_t outputCount);

/// The outputs that the shape rule gives, all elements zero. Errors as above, but for those of the oracle.
Result<std::vector<OracleTensor>> zeroOutputs(const OpDef& def, std::span<const uint8_t> paramBytes,
                                              const std::vector<std::optional<Tensor>>& inputs, size_t outputCount,
                                              int64_t mostElements = kMaxElements);

/// The default number of outputs of a case: the required ones, at least one.
size_t requiredOutputs(const OpDef& def);

}  // namespace opkit::harness
