// Composition of regions: combines a region that reads tensor T with the region that wrote T, so that T need not exist.
// The algebra behind the pass fuse-regions; pure functions.
#pragma once

#include <optional>
#include <vector>

#include "engine/op/region.h"

namespace opkit {

/// Copies straight from the writer's source to the reader's destination, for exactly those elements of `reader` that
/// `writer` wrote (a writer that covers part of T gives part of the reader). None when the two strided boxes do not
/// intersect in a few boxes. The writer's elements must be distinct (REQUIRED of RegionList anyway).
std::optional<std::vector<Region>> composeRegions(const Region& reader, const Region& writer);

/// Joins regions that continue each other along one dimension, in place. The result covers the same elements.
void mergeRegions(std::vector<Region>& regions);

}  // namespace opkit
