// Execution: one operator instance on one backend.
//
// onResize plans (shapes and memory are known: choose tiles, create pipelines, record commands, upload constants);
// onExecute only runs, allocates nothing and creates no pipeline. The same Execution is resized many times and
// must give, at each shape, what a fresh one would give. Memory that a kernel needs while it runs is asked for in
// scratchBytes and planned with everything else; constants are packed through Backend::constants(), so that the
// Executions of other plans and sessions find them packed.
#pragma once

#include <span>

#include "engine/op/region.h"
#include "engine/tensor/tensor.h"

namespace opkit {

/// Tensors of a node in port order; null where an optional input is absent.
using TensorList = std::span<const Tensor* const>;

class Execution {
 public:
  virtual ~Execution() = default;
  /// Bytes of scratch memory that onExecute needs for these shapes. Called before onResize, while the tensors are
  /// descriptions without memory, and before the kernel is chosen: Unsupported when the device cannot run it, and
  /// another one takes its place.
  virtual Result<size_t> scratchBytes(TensorList inputs, TensorList outputs) {
    static_cast<void>(inputs), static_cast<void>(outputs);
    return size_t{0};
  }
  /// Before onResize: device memory of scratchBytes, aligned like any tensor. It belongs to this Execution during
  /// onExecute only; others use it before and after, and its contents are then undefined.
  void setScratch(Tensor scratch) { scratch_ = std::move(scratch); }

  virtual Status onResize(TensorList inputs, TensorList outputs) = 0;
  virtual Status onExecute(TensorList inputs, TensorList outputs) = 0;
  /// False when the Execution keeps its own copy of a constant input (packed weights), so that the pipeline
  /// need not put that input on the device.
  virtual bool readsInput(size_t index) const {
    static_cast<void>(index);
    return true;
  }

 protected:
  /// What setScratch gave: u8[bytes]; without memory when scratchBytes was 0.
  const Tensor& scratch() const { return scratch_; }

 private:
  Tensor scratch_;
};

/// The one kernel per backend that carries out regions.
class RasterExecution : public Execution {
 public:
  /// The regions of the next onResize.
  virtual void setRegions(RegionList regions) = 0;
};

}  // namespace opkit
