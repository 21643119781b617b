// The parts of validateModel and sortTopologically that readers and importers use directly.
#pragma once

#include "engine/model/model.h"

namespace opkit {

/// The half of validateModel that needs no registry. Corrupt if names, indices, roles, order or constants are
/// inconsistent; the message names the culprit.
Status checkStructure(const Model& model);

/// An order of the nodes in which producers come first, keeping the given order where it can; only indices are
/// read. Corrupt names a tensor on a cycle.
Result<std::vector<NodeId>> topologicalOrder(const Model& model);

}  // namespace opkit
