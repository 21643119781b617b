// Shared by the files of Gemm: y = alpha * A * B + beta * C with A and B as stored or transposed.
#pragma once

#include "ops/gemm/gemm_parts.h"

namespace opkit::ops::gemm {

struct GemmPlan {
  int64_t rows;
  int64_t depth;
  int64_t columns;
  // Element (row, k) of A is a[row*aRowStride + k*aDepthStride]; likewise B (k, column) and C (row, column).
  int64_t aRowStride;
  int64_t aDepthStride;
  int64_t bDepthStride;
  int64_t bColumnStride;
  int64_t cRowStride = 0;  // 0 along axes where C is repeated
  int64_t cColumnStride = 0;
};

/// InvalidArgument if the shapes do not fit. `c` may be null.
Result<GemmPlan> planGemm(const GemmParamsT& params, const Shape& a, const Shape& b, const Shape* c);

}  // namespace opkit::ops::gemm
