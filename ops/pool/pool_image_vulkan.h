// Pooling kernels over NC4HW4 images, for ops/pool/pool_vulkan.cpp.
#pragma once

#include "engine/op/op_registry.h"

namespace opkit::ops::pool {

/// Registered before the kernels over buffers: faster if images are used.
void addImageKernels(OpRegistry& registry);

}  // namespace opkit::ops::pool
