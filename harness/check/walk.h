// Walks: the same Session, and the same kernel, through several shapes and back. Parts of `check`.
#pragma once

#include "engine/runtime/session.h"
#include "harness/check/prepared.h"

namespace opkit::harness {

/// One shape of a walk and the outputs a fresh Session gave there.
struct Stop {
  const PreparedCase* at = nullptr;
  const std::vector<Tensor>* fresh = nullptr;
};

/// The verdict at one stop, and the output of the previous stop, for the diagnosis.
struct StopVerdict {
  Status status;
  std::vector<Tensor> got;
  std::vector<Tensor> previous;
  size_t visits = 0;
};

/// Grows, shrinks and returns: 0, 1, ..., n-1, n-2, ..., 0.
std::vector<size_t> walkOrder(size_t count);

/// One Session; returning to a known shape must create nothing.
std::vector<StopVerdict> walkSession(Session& session, const OpDef& def, const std::vector<Stop>& stops);

/// One Execution on a separate backend. Unsupported if no kernel accepts the first stop.
Result<std::vector<StopVerdict>> walkKernel(const std::vector<Stop>& stops, const OpRegistry& registry,
                                            Runtime& runtime);

}  // namespace opkit::harness
