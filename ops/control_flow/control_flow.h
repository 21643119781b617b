// If, Loop and Scan: choice of the subgraph, number of iterations, inputs. Host work only; the subgraphs run on the
// backend.
#pragma once

#include "engine/op/control.h"
#include "ops/control_flow/scan_generated.h"

namespace opkit::ops::control_flow {

Result<std::vector<Tensor>> runIf(const ControlArgs& args);
Result<std::vector<Tensor>> runLoop(const ControlArgs& args);
Result<std::vector<Tensor>> runScan(const ControlArgs& args);

/// A tensor of zeros, or strings without text.
Result<Tensor> blank(const TensorDesc& desc);
/// Slice `index` along `axis`, which the result does not have. REQUIRES both to be in range.
Result<Tensor> sliceOf(const Tensor& tensor, size_t axis, int64_t index);
/// Equal tensors stacked along a new axis. InvalidArgument if they differ in shape or type, or the axis is beyond their
/// rank. `empty` describes the slices if there are none.
Result<Tensor> stack(std::span<const Tensor> slices, int64_t axis, const TensorDesc& empty);

}  // namespace opkit::ops::control_flow
