// Products of a matrix with up to 8 vectors on Vulkan, for device classes with largestProductTile: bound by the matrix,
// which is read once. Shader: gemm_thin.comp.
#pragma once

#include "ops/gemm/gemm_shared_vulkan.h"

namespace opkit::ops::gemm {

/// True if w has at most 8 rows or x at most 8 columns.
bool isThin(const ProductSize& size);

/// Slices of the depth: as many as fill the device with at least 48 terms each; their vectors fit into shared memory.
ProductSlices thinSlices(const ProductSize& size, const SharedPart& part, const DeviceCaps& device);

/// Records the product as SharedProduct::encode does. REQUIRES isThin.
Status encodeThin(const ProductSize& size, const std::vector<SharedPart>& parts, const ProductEnd& end,
                  TensorList inputs, TensorList outputs, vulkan::Encoder& encoder);

/// Passes of the loops of one invocation, for all shapes of the operands.
int64_t thinLoopPasses();

}  // namespace opkit::ops::gemm
