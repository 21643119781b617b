// Raster on the device: carries out regions on the device with shaders/raster/raster.comp, or a plain copy for a run.
#pragma once

#include "engine/backend/vulkan/vulkan_execution.h"

namespace opkit::vulkan {

/// The kernels of Raster: one that concatenates images along the channels in whole texels, and one for buffers.
std::vector<Creator> rasterCreators();

}  // namespace opkit::vulkan
