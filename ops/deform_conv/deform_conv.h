// The plan of DeformConv, for its kernels. Plain values, thread-safe.
//
// DeformConv is DeformColumns, which gathers the samples that each output reads, and then a MatMul with the weights.
#pragma once

#include "engine/op/window.h"
#include "ops/deform_conv/deform_conv_parts.h"

namespace opkit::ops::deform_conv {

inline constexpr size_t kMaxAxes = 3;

/// Images [batch, channels, inputs] sampled at `taps` places for each of the outputs; channels divide into offset
/// groups.
struct DeformPlan {
  int64_t batch = 0;
  int64_t channels = 0;
  int64_t offsetGroups = 1;
  int64_t taps = 1;
  int64_t positions = 1;         // of the output
  size_t given = 0;              // axes of the node
  std::vector<WindowAxis> axes;  // kMaxAxes of them; missing ones lead and have extent 1

  int64_t groupChannels() const { return channels / offsetGroups; }
  int64_t plane() const { return axes[0].input * axes[1].input * axes[2].input; }
};

/// InvalidArgument if parameters and shapes do not fit each other; `kernel` has one extent per spatial axis.
Result<DeformPlan> planDeform(const DeformConvParamsT& params, const Shape& x, const std::vector<int64_t>& kernel);

Status decompose(const ShapeArgs& args, std::span<const TensorDesc> outputs, Decomposition& parts);

}  // namespace opkit::ops::deform_conv
