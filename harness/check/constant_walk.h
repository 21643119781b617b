// The walk of an operator with constant operands: the parts of a composite operator move with its shapes, and each must
// keep the constants of its own node.
#pragma once

#include "harness/check/prepared.h"

namespace opkit::harness {

/// All inputs but one are constants of the model, and one axis of that input takes five extents or more, there and
/// back, on one Session that keeps four plans and on one that keeps a single plan. Each run must give the bits of a
/// fresh Session. Unsupported if no axis takes five extents; Internal names the input, the shapes before and the
/// difference.
Status walkConstants(const PreparedCase& c, const OpRegistry& registry, const std::string& backend,
                     const std::shared_ptr<Runtime>& runtime);

}  // namespace opkit::harness
