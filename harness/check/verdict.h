// What comparing all outputs of a case came to, and when two runs of it agree. Plain functions, thread-safe.
#pragma once

#include "harness/check/prepared.h"
#include "harness/compare/compare.h"

namespace opkit::harness {

struct Verdict {
  Comparison total;
  Shape worstShape;              // of the output with the worst element
  std::optional<size_t> failed;  // the first output that is wrong
};

/// Every output against the oracle, within the bounds of the card.
Verdict compareAll(const OpDef& def, const PreparedCase& c, const std::vector<Tensor>& outputs);

/// OK when `got` is `first` again: bit for bit, or, for operators that declare themselves unordered, both within the
/// bounds of the oracle.
Status sameResult(const OpDef& def, const PreparedCase& c, const std::vector<Tensor>& first,
                  const std::vector<Tensor>& got);

}  // namespace opkit::harness
