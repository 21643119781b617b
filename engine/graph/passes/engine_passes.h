// The graph passes that name no operator. Called once for each registry that is filled.
#pragma once

#include "engine/graph/pass.h"

namespace opkit {

/// Appends the passes of this folder to a registry.
void addEnginePasses(OpRegistry& registry);

/// remove-dead-code: removes nodes without read outputs, and unread constants.
GraphPass removeDeadCodePass();
/// join-equal-nodes: of nodes of one type with equal inputs and parameters, one is kept and the others' readers read
/// it.
GraphPass joinEqualNodesPass();
/// fuse-regions: a tensor that only rasters write and read is never made; its readers read what it was made from.
GraphPass fuseRegionsPass();
/// view-ranges: a tensor that is a run of another's elements, aligned as its backend asks, is not copied out of it.
GraphPass viewRangesPass();

}  // namespace opkit
