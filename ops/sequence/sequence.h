// The operators on sequences and optional values: shapes, lengths and copies on the host.
#pragma once

#include "engine/op/control.h"
#include "engine/tensor/objects.h"

namespace opkit::ops::sequence {

/// Tensors [.., extents[i], ..] cut from `whole` along `axis`, in order; strings too. REQUIRES extents of 0 or more
/// that add up to the tensor's. Unsupported for elements that share bytes.
Result<std::vector<Tensor>> cut(const Tensor& whole, size_t axis, const std::vector<int64_t>& extents);
/// The inverse. InvalidArgument if there is no part, or if their types, or extents beside the axis, differ.
Result<Tensor> join(const std::vector<Tensor>& parts, size_t axis);
/// The same elements in another shape. REQUIRES equal counts.
Tensor reshaped(const Tensor& tensor, Shape shape);

/// Cards that are ControlFn; see sequence.cpp.
Result<std::vector<Tensor>> runSplit(const ControlArgs& args);
Result<std::vector<Tensor>> runConcat(const ControlArgs& args);
Result<std::vector<Tensor>> runMap(const ControlArgs& args);

}  // namespace opkit::ops::sequence
