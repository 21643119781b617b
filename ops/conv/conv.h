// Shared by the files of Conv: the convolution as groups of channels and windows over spatial axes.
#pragma once

#include "engine/op/window.h"
#include "ops/conv/conv_parts.h"

namespace opkit::ops::conv {

/// A planned convolution: x [batch, groups*groupInputs, spatial...] * w [groups*groupOutputs, groupInputs,
/// kernel...] gives y [batch, groups*groupOutputs, spatial...].
struct ConvPlan {
  int64_t batch;
  int64_t groups;
  int64_t groupInputs;   // input channels of one group
  int64_t groupOutputs;  // output channels of one group
  std::vector<WindowAxis> axes;

  int64_t inputPositions() const;   // product of the input's spatial extents
  int64_t outputPositions() const;  // product of the output's spatial extents
  int64_t kernelTaps() const;       // product of the kernel's extents
};

/// InvalidArgument if shapes and parameters do not fit each other. `bias` may be null.
Result<ConvPlan> planConv(const ConvParamsT& params, const Shape& x, const Shape& w, const Shape* bias);

}  // namespace opkit::ops::conv
