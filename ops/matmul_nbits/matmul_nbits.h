// MatMulNBits: a times the transposed matrix of weights that are codes of 2, 4 or 8 bits with a scale per block. Shared
// by its kernels. Plain functions, thread-safe.
#pragma once

#include "ops/matmul_nbits/matmul_nbits_parts.h"

namespace opkit::ops::matmul_nbits {

enum Input : size_t { kA, kWeights, kScales, kZeroPoints, kBias };

/// y[rows, columns] = a[rows, depth] * w[columns, depth]^T.
struct MatMulNBitsPlan {
  int64_t rows = 0, columns = 0, depth = 0;
  int64_t blocks = 0;     // of a row of weights; the last one may reach beyond the depth
  int64_t blockSize = 0;  // elements
};

/// InvalidArgument if the shapes do not fit together. `zeroPoints` and `bias` may be null.
Result<MatMulNBitsPlan> planMatMulNBits(const MatMulNBitsParamsT& params, const Shape& a, const Shape& weights,
                                        const Shape& scales, const Shape* zeroPoints, const Shape* bias);

}  // namespace opkit::ops::matmul_nbits
