// The result of comparing all outputs of a case, and the comparison of two runs. Plain functions, thread-safe.
#pragma once

#include "harness/check/prepared.h"
#include "harness/compare/compare.h"

namespace opkit::harness {

struct Verdict {
  Comparison total;
  Shape worstShape;              // of the output with the worst element
  std::optional<size_t> failed;  // the first output that is wrong
};

/// Every output against the oracle, within the bounds of the card. In the lane edges a device may take a denormal
/// number of f32 for zero, as Vulkan allows: among the inputs and as a result.
Verdict compareAll(const OpDef& def, const PreparedCase& c, const std::vector<Tensor>& outputs, bool onDevice = false);

/// OK if `got` equals `first` bit for bit; for operators declared unordered, if both are within the bounds of the
/// oracle.
Status sameResult(const OpDef& def, const PreparedCase& c, const std::vector<Tensor>& first,
                  const std::vector<Tensor>& got);

}  // namespace opkit::harness
