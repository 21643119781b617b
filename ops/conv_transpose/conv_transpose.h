// Shared by the files of ConvTranspose, Col2Im and Fold.
#pragma once

#include "engine/op/op_def.h"
#include "ops/conv_transpose/col2im_generated.h"
#include "ops/conv_transpose/conv_transpose_generated.h"
#include "ops/conv_transpose/fold_generated.h"

namespace opkit::ops::conv_transpose {

inline constexpr size_t kMaxSpatialAxes = 3;

/// One spatial axis of an image that blocks are added to.
struct FoldAxis {
  int64_t image = 1;
  int64_t positions = 1;
  int64_t kernel = 1;
  int64_t stride = 1;
  int64_t dilation = 1;
  int64_t pad = 0;
};

/// Prepends axes of extent 1 up to kMaxSpatialAxes. REQUIRES that the shape rule of Fold accepted the parameters.
std::vector<FoldAxis> foldAxes(const FoldParamsT& params);

/// Shape rules, the decomposition of Col2Im, and additions as the cost.
Result<std::vector<TensorDesc>> foldRule(const ShapeArgs& args);
Result<std::vector<TensorDesc>> col2ImRule(const ShapeArgs& args);
Status decomposeCol2Im(const ShapeArgs& args, std::span<const TensorDesc> outputs, Decomposition& parts);
double additions(const ShapeArgs& args, std::span<const TensorDesc> outputs);

Status convTransposeReference(const OracleArgs& args);
Status col2ImReference(const OracleArgs& args);
Status foldReference(const OracleArgs& args);

}  // namespace opkit::ops::conv_transpose
