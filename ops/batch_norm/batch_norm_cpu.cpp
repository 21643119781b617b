// BatchNormalization on the CPU, f32: each channel is (x - mean) * factor + bias, with the factor computed in double
// once per run.
#include <cmath>

#include "engine/backend/cpu/cpu_kernel.h"
#include "engine/backend/cpu/vector_ops.h"
#include "ops/batch_norm/batch_norm_parts.h"

namespace opkit::ops::batch_norm {
namespace {

class BatchNormCpu final : public cpu::CpuKernel {
 public:
  BatchNormCpu(const CreateArgs& args, Backend& backend)
      : CpuKernel(args, backend), epsilon_(args.params<BatchNormParams>().epsilon) {}

 protected:
  Status onRun(TensorList inputs, TensorList outputs) override {
    const Shape& shape = inputs[0]->desc.shape;
    const int64_t channels = shape.size() > 1 ? shape[1] : 1;
    const int64_t inner = shape.size() > 1 ? elementCount(shape, 2, shape.size()) : 1;
    if (outputs[0]->desc.elements() == 0) return Status::ok();
    const float *scale = floatsOf(*inputs[1]), *bias = floatsOf(*inputs[2]);
    const float *mean = floatsOf(*inputs[3]), *variance = floatsOf(*inputs[4]);
    cpu::parallelRows(pool_, shape[0] * channels, inner, [&](int64_t row) {
      const int64_t c = row % channels;
      const double factor = scale[c] / std::sqrt(static_cast<double>(variance[c]) + epsilon_);
      cpu::affine(floatsOf(*inputs[0]) + row * inner, mean[c], static_cast<float>(factor), bias[c],
                  floatsOf(*outputs[0]) + row * inner, inner);
    });
    return Status::ok();
  }

 private:
  double epsilon_;
};

Status supports(const CreateArgs& args) {
  for (size_t i = 1; i < args.inputs.size(); ++i)
    if (args.input(i).dtype != DType::Float32)
      return Status::unsupported("BatchNormalization: the CPU kernel takes f32, got {}", nameOf(args.input(i).dtype));
  return Status::ok();
}

}  // namespace

void addCpu(OpRegistry& registry) {
  registry.addCreator("cpu", "BatchNormalization", cpu::creatorOf<BatchNormCpu>(supports, DTypeSet(DType::Float32)));
}

}  // namespace opkit::ops::batch_norm
