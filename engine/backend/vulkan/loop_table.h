// The tables that shaders/loop reads, and the reports that its index terms leave.
#pragma once

#include "engine/backend/loop_lowering.h"
#include "engine/backend/vulkan/vulkan_execution.h"

namespace opkit::vulkan {

/// Appends one texel per dimension: its size and its step in three views; an absent view has none.
void appendDimensions(const Shape& size, std::array<const DimVector*, 3> views, std::vector<uint32_t>& table);
/// Of a Copy or Scatter: its iterations, its box, then one texel per index term: offset, extent, stride.
std::vector<uint32_t> tableOfBoxes(const LoopRegion& loop);

/// Unsupported where the shaders cannot walk the index terms.
Status checkTerms(const LoopRegion& loop, const CreateArgs& args);
/// The error for indices outside their extents. loop_indices.glsl writes, per term, the largest index that is too large
/// and the smallest that is too small.
DataReport explainIndices(const std::string& type, const LoopIndices& indices);

}  // namespace opkit::vulkan
