// BatchNormalization on the CPU, f32 and f64: each channel is (x - mean) * factor + bias, with the factor computed in
// double once per run.
#include <cmath>

#include "engine/backend/cpu/cpu_kernel.h"
#include "engine/backend/cpu/double_ops.h"
#include "engine/backend/cpu/row_kernel.h"
#include "engine/backend/cpu/vector_ops.h"
#include "ops/batch_norm/batch_norm_parts.h"

namespace opkit::ops::batch_norm {
namespace {

class BatchNormCpu final : public cpu::CpuKernel, public cpu::RowKernel {
 public:
  BatchNormCpu(const CreateArgs& args, Backend& backend)
      : CpuKernel(args, backend), epsilon_(args.params<BatchNormParams>().epsilon) {
    for (size_t i = 1; i < args.inputs.size(); ++i) isMixed_ |= args.input(i).dtype != args.input(0).dtype;
  }
  cpu::RowSplit rows(TensorList inputs, TensorList) const override { return cpu::channelRows(inputs); }

 protected:
  Status onRun(TensorList inputs, TensorList outputs) override {
    if (outputs[0]->desc.elements() == 0) return Status::ok();
    cpu::visitWideFloat(inputs[0]->desc.dtype, [&](auto tag) {
      using T = decltype(tag);
      normaliseAll(inputs, inputs[0]->data<T>().data(), outputs[0]->data<T>().data());
    });
    return Status::ok();
  }

 private:
  template <class T>
  void normaliseAll(TensorList inputs, const T* x, T* y) const {
    const Shape& shape = inputs[0]->desc.shape;
    const int64_t channels = shape.size() > 1 ? shape[1] : 1;
    const int64_t inner = shape.size() > 1 ? elementCount(shape, 2, shape.size()) : 1;
    cpu::parallelRows(pool_, shape[0] * channels, inner, [&](int64_t row) {
      const int64_t c = row % channels, first = row * inner;
      const double bias = figure(*inputs[2], c), mean = figure(*inputs[3], c);
      const double factor = figure(*inputs[1], c) / std::sqrt(figure(*inputs[4], c) + epsilon_);
      if (!isMixed_)
        return cpu::affine(x + first, static_cast<T>(mean), static_cast<T>(factor), static_cast<T>(bias), y + first,
                           inner);
      for (int64_t i = first; i < first + inner; ++i)
        y[i] = static_cast<T>((static_cast<double>(x[i]) - mean) * factor + bias);
    });
  }
  static double figure(const Tensor& tensor, int64_t channel) {
    const auto i = static_cast<size_t>(channel);
    switch (tensor.desc.dtype) {
      case DType::Float64: return tensor.data<double>()[i];
      case DType::Float16: return toFloat(tensor.data<Half>()[i]);
      default: return tensor.data<float>()[i];
    }
  }

  double epsilon_;
  bool isMixed_ = false;  // scale and bias, or mean and variance, have another type than x
};

}  // namespace

void addCpu(OpRegistry& registry) {
  registry.addCreator("cpu", "BatchNormalization", cpu::creatorOf<BatchNormCpu>(cpu::supportsAll, cpu::kWideFloats));
}

}  // namespace opkit::ops::batch_norm
