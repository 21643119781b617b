// The shapes of NonMaxSuppression, for its kernels.
#pragma once

#include "engine/tensor/tensor.h"

namespace opkit::ops::non_max_suppression {

/// boxes [batch, boxes, 4], scores [batch, classes, boxes], output indices [batch * classes * most, 3].
struct Extents {
  int64_t batch = 0;
  int64_t classes = 0;
  int64_t boxes = 0;
  int64_t most = 0;  // boxes selected per row of scores

  static Extents of(const Shape& scores, const Shape& indices) {
    const int64_t rows = scores[0] * scores[1];
    return {scores[0], scores[1], scores[2], rows > 0 ? indices[0] / rows : 0};
  }
  int64_t rows() const { return batch * classes; }
};

}  // namespace opkit::ops::non_max_suppression
