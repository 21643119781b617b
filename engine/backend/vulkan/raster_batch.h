// Raster batches: regions of one output that lie between each other, as few dispatches
// (shaders/raster/raster_batch.comp).
//
// Separate dispatches would write the same range of one buffer; nothing but their shaders knows that they write
// different elements of it, so they would take a barrier each.
#pragma once

#include "engine/backend/vulkan/vulkan_execution.h"

namespace opkit::vulkan {

/// A box that a shader moves.
struct Move {
  Region region;  // of elements
  const Tensor* from;
};

/// Widens a region to words of twice its elements; false, and nothing done, where it is not contiguous and aligned.
bool widen(Region& region);
/// Unsupported when the region's words cannot be counted in 32 bits.
Status checkReach(const Region& region);

/// Records the moves, of up to six dimensions each, into `to`.
Status encodeBatch(std::vector<Move> moves, const Tensor& to, Encoder& encoder);

}  // namespace opkit::vulkan
