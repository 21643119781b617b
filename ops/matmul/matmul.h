// Shared by the files of MatMul: a batch of matrix products with broadcast batch axes.
#pragma once

#include "engine/backend/creator.h"
#include "ops/matmul/matmul_parts.h"

namespace opkit::ops::matmul {

/// y[b] = a[aBatch(b)] * b[bBatch(b)], matrices [rows, depth] and [depth, columns]; y is row-major.
struct MatMulPlan {
  int64_t rows;
  int64_t depth;
  int64_t columns;
  // Of elements (row, k) of a and (k, column) of b in their matrices.
  int64_t aRowStride, aDepthStride, bDepthStride, bColumnStride;
  Shape batch;              // broadcast batch axes of the result
  DimVector aBatchStrides;  // in matrices, 0 where repeated; one per axis of `batch`
  DimVector bBatchStrides;
  Shape output;  // the result's shape, without the axes added to 1-D operands

  int64_t batchCount() const { return elementCount(batch); }
  /// The matrix of a (of b) that batch index `i` reads.
  int64_t aMatrix(int64_t i) const { return matrixOf(aBatchStrides, i); }
  int64_t bMatrix(int64_t i) const { return matrixOf(bBatchStrides, i); }

 private:
  int64_t matrixOf(const DimVector& strides, int64_t i) const;
};

/// NumPy matmul, of matrices that are stored transposed on request; InvalidArgument if the shapes do not fit.
Result<MatMulPlan> planMatMul(const Shape& a, const Shape& b, const MatMulParamsT& params = {});

/// OK for batches of products so small that packing costs more than multiplying: of at most `mostProducts`
/// multiplications each, or single dot products; of a depth of at most 256.
Status requireSmallProducts(const CreateArgs& args, int64_t mostProducts);

}  // namespace opkit::ops::matmul
