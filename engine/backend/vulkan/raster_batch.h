// Raster batches: interleaved regions of one output, copied in few dispatches (shaders/raster/raster_batch.comp).
//
// Separate dispatches would write the same range of one buffer. The tracker cannot know that they write different
// elements, so each would need a barrier.
#pragma once

#include "engine/backend/vulkan/vulkan_execution.h"

namespace opkit::vulkan {

/// A box that a shader moves.
struct Move {
  Region region;  // of elements
  const Tensor* from;
};

/// Widens a region to words of twice the size; returns false and changes nothing if it is not contiguous and aligned.
bool widen(Region& region);
/// Unsupported if the region's words cannot be counted in 32 bits.
Status checkReach(const Region& region);

/// Records the moves, of up to six dimensions each, into `to`.
Status encodeBatch(std::vector<Move> moves, const Tensor& to, Encoder& encoder);

}  // namespace opkit::vulkan
