// Layout: the order of a tensor's elements in memory.
//
// A TensorDesc's shape is always [batch, channels, spatial...]; the layout only says where each element is. Layouts
// other than NCHW need rank 2 or more. Plain functions, thread-safe.
#pragma once

#include <cstdint>

#include "engine/tensor/shape.h"

namespace opkit {

enum class Layout : uint8_t {
  NCHW,    // row-major in the order of the shape; the only layout of tensors of rank 0 and 1
  NC4HW4,  // [batch, ceil(channels / 4), spatial..., 4]; channels beyond the last are zero
};

/// "NCHW", "NC4HW4".
const char* nameOf(Layout layout);

/// How many elements the layout stores for a tensor of `shape`, padding included.
int64_t storedElements(const Shape& shape, Layout layout);

/// A shape of rank 2 or more as batch, channels and the product of the rest, with the stride of each in a layout.
struct LayoutView {
  LayoutView(const Shape& shape, Layout layout);
  /// Where element (n, c, s) is stored.
  int64_t at(int64_t n, int64_t c, int64_t s) const {
    return n * batchStride + c / block * blockStride + c % block * channelStride + s * spatialStride;
  }

  int64_t batch = 1, channels = 1, spatial = 1;
  int64_t block = 1;  // channels stored together
  int64_t batchStride = 0, blockStride = 0, channelStride = 0, spatialStride = 0;
};

}  // namespace opkit
