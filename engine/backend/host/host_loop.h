// HostLoop: the loop kernel of the host backends (engine/op/loop_region.h), threaded over iterations.
//
// Copies and scatters take every dtype; products and running sums every numeric dtype. Products accumulate in the
// arithmetic of their dtype (f16 in float), running sums in double.
#pragma once

#include "engine/backend/cpu/row_kernel.h"
#include "engine/backend/host/host_execution.h"
#include "engine/backend/host/host_scatter.h"
#include "engine/backend/loop_lowering.h"
#include "engine/base/thread_pool.h"
#include "engine/op/loops.h"

namespace opkit {

class HostLoop final : public HostExecution, public cpu::RowKernel {
 public:
  HostLoop(const CreateArgs& args, Backend& backend, ThreadPool& pool)
      : HostExecution(backend), type_(args.def.type), lowering_(args), pool_(pool) {}

  Status onResize(TensorList inputs, TensorList outputs) override;
  bool readsInput(size_t index) const override { return !lowering_.knows(index); }
  /// Running sums whose outermost iterations lie one behind the other.
  cpu::RowSplit rows(TensorList inputs, TensorList outputs) const override;

 protected:
  /// InvalidArgument if an index is out of range.
  Status onRun(TensorList inputs, TensorList outputs) override;

 private:
  template <class T>
  bool copy(const Tensor& source, const Tensor* indices, const Tensor& target);

  std::string type_;
  LoopLowering lowering_;
  ThreadPool& pool_;
  LoopRegion loop_;
  Loops outer_;  // iterations: steps of the target, the operands and, of a Copy or Scatter, the indices
  Loops box_;    // of a Copy or Scatter: strides of the target and the source
  HostScatter scatter_;
};

/// The Creator of provider "loop"; `poolOf` gives the threads of a Backend. An operator that is faster as a loop for
/// some shapes puts one of these before its kernels: it is chosen if `when` returns OK, and `kernel` distinguishes it
/// from the one after them.
Creator hostLoopCreator(ThreadPool& (*poolOf)(Backend& backend), LoopCondition when = nullptr, std::string kernel = "");

}  // namespace opkit
