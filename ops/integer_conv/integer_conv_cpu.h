// IntegerConvCpu: what the kernels of ConvInteger and QLinearConv on the CPU share.
#pragma once

#include "engine/backend/cpu/cpu_kernel.h"
#include "engine/backend/creator.h"
#include "ops/conv/padded_volume.h"
#include "ops/integer_conv/integer_conv.h"
#include "ops/integer_matmul/line_values.h"

namespace opkit::ops::integer_conv {

namespace bytes = cpu::bytes;
using integer_matmul::inputAt;
using integer_matmul::LineValues;

inline uint8_t* bytesOf(const Tensor& tensor) { return reinterpret_cast<uint8_t*>(tensor.bytes().data()); }
inline bool isSigned(const Tensor& tensor) { return tensor.desc.dtype == DType::Int8; }

/// State of a kernel after onResize.
class IntegerConvCpu : public HostExecution {
 public:
  IntegerConvCpu(const CreateArgs& args, Backend& backend)
      : HostExecution(backend),
        pool_(cpu::threadPool(backend)),
        roles_(integer_matmul::rolesOf(args.def.type)),
        params_(args.params<conv::ConvParams>()) {}

 protected:
  Status plan(TensorList inputs) {
    OPKIT_ASSIGN(IntegerConvPlan plan, planIntegerConv(params_, roles_, integer_matmul::shapesOf(inputs)));
    plan_ = std::move(plan.conv);
    wZeroPoint_ = plan.wZeroPoint;
    wScale_ = plan.wScale;
    volume_ = conv::PaddedVolume(plan_.axes);
    lineBytes_ = LineValues::bytesOf(roles_, inputs);
    return Status::ok();
  }
  const Tensor& x(TensorList inputs) const { return *inputAt(inputs, roles_.b); }
  const Tensor& w(TensorList inputs) const { return *inputAt(inputs, roles_.a); }
  const int32_t* biasOf(TensorList inputs) const {
    const Tensor* bias = inputAt(inputs, roles_.bias);
    return bias ? bias->data<int32_t>().data() : nullptr;
  }
  uint8_t* scratchAt(int64_t offset) { return bytesOf(scratch()) + offset; }

  ThreadPool& pool_;
  const integer_matmul::Roles& roles_;
  conv::ConvParamsT params_;
  conv::ConvPlan plan_{};
  integer_matmul::Lines wZeroPoint_, wScale_;
  conv::PaddedVolume volume_;  // of a channel
  int64_t lineBytes_ = 0;      // of zero points and scales
};

/// One group per channel, on floats, which hold sums of up to 258 products exactly.
Creator depthwiseCpuCreator();
/// Constant weights whose zero point is the middle of their type, and groups of several outputs.
Creator directCpuCreator();

}  // namespace opkit::ops::integer_conv
