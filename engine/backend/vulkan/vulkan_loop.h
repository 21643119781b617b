// The loop kernels of the Vulkan backend: LoopRegions (engine/op/loop_region.h) through shaders/loop/.
#pragma once

#include "engine/backend/loop_lowering.h"

namespace opkit::vulkan {

/// The Creator of provider "loop". Refuses loops of more than 6 dimensions (those of a copied box included) or index
/// terms, and dtypes that the shaders do not have; `when` and `kernel` are as in hostLoopCreator.
Creator loopCreator(LoopCondition when = nullptr, std::string_view kernel = "");

}  // namespace opkit::vulkan
