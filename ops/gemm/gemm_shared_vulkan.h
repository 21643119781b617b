// SharedProduct: sums of products on Vulkan through tiles in shared memory, for MatMul and Gemm.
//
// Both operands are read where they are, along their contiguous axis; nothing is packed. For device classes with
// largestProductTile; others use GemmTiles. Products with at most 8 rows or columns take gemm_thin_vulkan.h. One
// SharedProduct belongs to one Execution. Shaders: gemm_shared.comp, gemm_sum.comp.
#pragma once

#include <cmath>

#include "ops/gemm/product_tiles_vulkan.h"

namespace opkit::ops::gemm {

/// Strides of an operand in its tensor, in elements. `outer` is a row of w or a column of x; depth or outer is 1.
struct ProductOperand {
  int64_t base = 0;
  int64_t depth = 0;
  int64_t outer = 0;
  int64_t image = 0;
  int64_t group = 0;
};

/// images * groups products with their results one behind the other in y, from element yBase on.
struct SharedPart {
  ProductOperand w;
  ProductOperand x;
  int64_t images = 1;
  int64_t groups = 1;
  int64_t yBase = 0;
};

/// The last steps on the sums: clamp(alpha * sum + beta * bias, low, high).
struct ProductEnd {
  int64_t biasRow = 0;     // strides of the bias, in elements
  int64_t biasColumn = 0;  // 0 or 1
  int64_t biasGroup = 0;   // between the biases of a part's groups
  int64_t biasGroups = 1;  // as many as the parts have groups, if biasGroup is not 0
  float alpha = 1;
  float beta = 1;
  float low = -INFINITY;
  float high = INFINITY;
};

/// Adds `slices` partial sums of each result of y. `size` has all of y's matrices.
Status addSlices(const Tensor& partial, int64_t slices, const ProductSize& size, const ProductEnd& end,
                 const Tensor* bias, const Tensor& y, vulkan::Encoder& encoder);

class SharedProduct {
 public:
  /// OK if the device's class and loops take a product of this size.
  static Status supports(const CreateArgs& args, const ProductSize& size);
  /// Records the products of inputs 0 (w) and 1 (x) with the bias in input 2, if present, into output 0. The parts make
  /// all of its elements; `size` has their matrices.
  Status encode(const ProductSize& size, const std::vector<SharedPart>& parts, const ProductEnd& end, TensorList inputs,
                TensorList outputs, vulkan::Encoder& encoder);

 private:
};

}  // namespace opkit::ops::gemm
