// Execution: one operator instance on one backend.
//
// onResize plans: shapes are known, so choose tiles, create pipelines, record commands, upload constants. onExecute
// runs, allocates nothing and creates no pipeline. On the host a tensor may move between them, and one of the caller
// has no memory in onResize (keeps_outputs.h). Resized many times, an Execution gives the bits of a fresh one at each
// shape. scratchBytes requests memory for onExecute. Pack constants through Backend::constants(), which is shared.
#pragma once

#include <span>

#include "engine/tensor/tensor.h"

namespace opkit {

/// Tensors of a node in port order; null where an optional input is absent.
using TensorList = std::span<const Tensor* const>;

class Execution {
 public:
  virtual ~Execution() = default;
  /// Bytes of scratch memory that onExecute needs for these shapes. Called before onResize, while the tensors are
  /// descriptions without memory, and before the kernel is chosen: Unsupported if the device cannot run it; then
  /// another kernel takes its place.
  virtual Result<size_t> scratchBytes(TensorList inputs, TensorList outputs) {
    static_cast<void>(inputs), static_cast<void>(outputs);
    return size_t{0};
  }
  /// Before onResize: device memory of scratchBytes, aligned like any tensor. It belongs to this Execution during
  /// onExecute only. Others use it before and after, so its contents are undefined at the start.
  void setScratch(Tensor scratch) { scratch_ = std::move(scratch); }

  virtual Status onResize(TensorList inputs, TensorList outputs) = 0;
  virtual Status onExecute(TensorList inputs, TensorList outputs) = 0;
  /// True if onExecute reads the shapes itself and onResize at most reserves memory. Known after the first onResize.
  virtual bool plansNothing() const { return false; }
  /// False if the Execution keeps its own copy of a constant input (packed weights). The pipeline then does not upload
  /// that input.
  virtual bool readsInput(size_t index) const {
    static_cast<void>(index);
    return true;
  }

 protected:
  /// The tensor of setScratch: u8[bytes]; without memory if scratchBytes was 0.
  const Tensor& scratch() const { return scratch_; }

 private:
  Tensor scratch_;
};

}  // namespace opkit
