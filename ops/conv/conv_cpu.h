// ConvCpu: what the f32 kernels of Conv on the CPU share.
#pragma once

#include "engine/backend/cpu/cpu_kernel.h"
#include "engine/backend/creator.h"
#include "engine/backend/host/host_execution.h"
#include "ops/conv/conv.h"
#include "ops/conv/padded_volume.h"

namespace opkit::ops::conv {

inline float* floatsOf(const Tensor& tensor) { return tensor.data<float>().data(); }

/// State of a kernel after onResize.
class ConvCpu : public HostExecution {
 public:
  ConvCpu(const CreateArgs& args, Backend& backend)
      : HostExecution(backend), pool_(cpu::threadPool(backend)), params_(args.params<ConvParams>()) {}

 protected:
  Status plan(TensorList inputs) {
    const Shape* bias = inputs.size() > 2 && inputs[2] ? &inputs[2]->desc.shape : nullptr;
    OPKIT_ASSIGN(plan_, planConv(params_, inputs[0]->desc.shape, inputs[1]->desc.shape, bias));
    volume_ = PaddedVolume(plan_.axes);
    return Status::ok();
  }
  static const float* biasOf(TensorList inputs) {
    return inputs.size() > 2 && inputs[2] ? floatsOf(*inputs[2]) : nullptr;
  }

  ThreadPool& pool_;
  ConvParamsT params_;
  ConvPlan plan_{};
  PaddedVolume volume_;  // of a channel
};

/// One group per channel.
Creator depthwiseCpuCreator();
/// Constant weights, several taps, and groups of several outputs.
Creator directCpuCreator();

}  // namespace opkit::ops::conv
