// Products of a matrix with up to 8 vectors on Vulkan, for device classes with largestProductTile: bound by the matrix,
// which is read once. Shader: gemm_thin.comp.
#pragma once

#include "ops/gemm/gemm_shared_vulkan.h"

namespace opkit::ops::gemm {

// MatMul gives batches of products up to this size to a loop (requireSmallProducts), which sums in order of k. They are
// never thin, since tiles sum in this order too: an Execution resized to such a product then gives the bits of the
// loop.
inline constexpr int64_t kLoopProducts = 216;
inline constexpr int64_t kLoopDepth = 256;

/// True if w has at most 8 rows or x at most 8 columns, and the product is larger than those above.
bool isThin(const ProductSize& size);

/// Slices of the depth: as many as fill the device with at least 48 terms each; their vectors fit into shared memory.
ProductSlices thinSlices(const ProductSize& size, const SharedPart& part, const DeviceCaps& device);

/// Records the product as SharedProduct::encode does. REQUIRES isThin.
Status encodeThin(const ProductSize& size, const std::vector<SharedPart>& parts, const ProductEnd& end,
                  TensorList inputs, TensorList outputs, vulkan::Encoder& encoder);

/// Passes of the loops of one invocation, for all shapes of the operands.
int64_t thinLoopPasses();

}  // namespace opkit::ops::gemm
