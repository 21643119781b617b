// The Vulkan kernel for volumes and for f64, last in Conv's table.
#pragma once

#include "engine/backend/creator.h"

namespace opkit::ops::conv {

/// Refuses more than 3 spatial axes, and fewer unless the elements are f64.
Creator directCreator();

}  // namespace opkit::ops::conv
