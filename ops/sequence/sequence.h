// The operators on sequences and optional values: shapes, lengths and copies on the host.
#pragma once

#include "engine/op/control.h"
#include "engine/tensor/objects.h"

namespace opkit::ops::sequence {

/// `extent` slices of `whole` from `begin` on along `axis`; strings too. REQUIRES that they exist. Unsupported for
/// elements that share bytes.
Result<Tensor> partOf(const Tensor& whole, size_t axis, int64_t begin, int64_t extent);
/// Tensors [.., extents[i], ..] cut from `whole` along `axis`, in order. REQUIRES extents of 0 or more that add up
/// to the tensor's. Unsupported as above.
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
