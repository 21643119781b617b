// RowKernel: a CPU kernel whose node falls apart into rows, so that others can run it in blocks of rows.
//
//   class ReluCpu final : public cpu::CpuKernel, public cpu::ElementwiseRows { ... };
#pragma once

#include "engine/backend/execution.h"

namespace opkit::cpu {

/// The leading axes that count the rows of a node. Row i of every output depends on row i of the inputs that have rows,
/// and on the whole of the others.
struct RowSplit {
  size_t outputAxes = 0;               // of every output; 0: the node does not fall apart
  std::vector<size_t> inputAxes = {};  // of each input; 0: every row reads the whole input
};

/// Resized to tensors of the extents [1, ..., 1, rows of the block] along these axes, the kernel computes the bits that
/// it gives these rows in the whole node.
class RowKernel {
 public:
  virtual ~RowKernel() = default;
  /// Called before onResize, with descriptions of the whole node.
  virtual RowSplit rows(TensorList inputs, TensorList outputs) const = 0;
};

/// Elementwise kernels with broadcasting: as many axes as every input either has or repeats. Shapes are aligned at
/// their last axes.
RowSplit elementwiseRows(TensorList inputs, TensorList outputs);

/// Kernels that fold or move along later axes: `axes` leading axes of the outputs and of input 0; every row reads the
/// whole of the other inputs.
RowSplit leadingRows(TensorList inputs, size_t axes);

/// Kernels on [batch, channels, ...] with parameters [channels]: the axis of the batch, or that of the channels if
/// there is one image.
RowSplit channelRows(TensorList inputs);

class ElementwiseRows : public RowKernel {
 public:
  RowSplit rows(TensorList inputs, TensorList outputs) const override { return elementwiseRows(inputs, outputs); }
};

}  // namespace opkit::cpu
