// LayerNormalization and InstanceNormalization on the CPU, f32 and f64: one row at a time, first the mean, then
// deviations from it, so that a large mean costs no precision.
#include <cmath>

#include "engine/backend/cpu/cpu_kernel.h"
#include "engine/backend/cpu/double_ops.h"
#include "engine/backend/cpu/row_kernel.h"
#include "engine/backend/cpu/vector_ops.h"
#include "ops/layer_norm/layer_norm.h"

namespace opkit::ops::layer_norm {
namespace {

class NormCpu : public cpu::CpuKernel, public cpu::RowKernel {
 public:
  using CpuKernel::CpuKernel;

 protected:
  virtual NormRows rowsOf(const Shape& x) const = 0;

  Status onRun(TensorList inputs, TensorList outputs) override {
    const NormRows rows = rowsOf(inputs[0]->desc.shape);
    if (outputs[0]->desc.elements() == 0 && rows.rows == 0) return Status::ok();
    cpu::visitWideFloat(inputs[0]->desc.dtype, [&](auto tag) {
      cpu::parallelRows(pool_, rows.rows, rows.extent * 3,
                        [&](int64_t row) { normaliseRow<decltype(tag)>(rows, row, inputs, outputs); });
    });
    return Status::ok();
  }

 private:
  template <class T>
  static T* elementsOf(TensorList list, size_t index) {
    return has(list, index) ? list[index]->template data<T>().data() : nullptr;
  }
  template <class T>
  static void normaliseRow(const NormRows& rows, int64_t row, TensorList inputs, TensorList outputs) {
    const T* x = elementsOf<T>(inputs, 0) + row * rows.extent;
    const auto count = static_cast<double>(rows.extent);
    const double mean = rows.centred ? cpu::sumOf(x, rows.extent) / count : 0;
    const double variance = cpu::deviationOf(x, mean, rows.extent) / count;
    const double factor = 1 / std::sqrt(variance + rows.epsilon);
    if (has(outputs, 1)) elementsOf<T>(outputs, 1)[row] = static_cast<T>(mean);
    if (has(outputs, 2)) elementsOf<T>(outputs, 2)[row] = static_cast<T>(factor);
    const T *scale = elementsOf<T>(inputs, 1), *bias = elementsOf<T>(inputs, 2);
    T* y = elementsOf<T>(outputs, 0) + row * rows.extent;
    if (rows.channels == 0) return cpu::normalise(x, mean, factor, scale, bias, y, rows.extent);
    cpu::normalise(x, mean, factor, nullptr, nullptr, y, rows.extent);
    const int64_t span = rows.extent / rows.rowChannels;
    int64_t channel = row * rows.rowChannels % rows.channels;
    for (int64_t i = 0; i < rows.extent; i += span, ++channel)
      cpu::affine(y + i, T(0), scale[channel], bias ? bias[channel] : T(0), y + i, span);
  }
};

class LayerNormCpu final : public NormCpu {
 public:
  LayerNormCpu(const CreateArgs& args, Backend& backend)
      : NormCpu(args, backend), params_(args.params<LayerNormParams>()) {}
  cpu::RowSplit rows(TensorList inputs, TensorList) const override {
    const int axis = *normalizeAxis(params_.axis, inputs[0]->desc.shape.size());
    return cpu::leadingRows(inputs, static_cast<size_t>(axis));
  }

 protected:
  NormRows rowsOf(const Shape& x) const override { return layerRows(params_, x); }

 private:
  LayerNormParamsT params_;
};

class InstanceNormCpu final : public NormCpu {
 public:
  InstanceNormCpu(const CreateArgs& args, Backend& backend)
      : NormCpu(args, backend), params_(args.params<InstanceNormParams>()) {}
  cpu::RowSplit rows(TensorList inputs, TensorList) const override {
    return params_.groups > 0 ? cpu::leadingRows(inputs, 1) : cpu::channelRows(inputs);
  }

 protected:
  NormRows rowsOf(const Shape& x) const override { return instanceRows(params_, x); }

 private:
  InstanceNormParamsT params_;
};

}  // namespace

void addCpu(OpRegistry& registry) {
  registry.addCreator("cpu", "LayerNormalization", cpu::creatorOf<LayerNormCpu>(cpu::supportsAll, cpu::kWideFloats));
  registry.addCreator("cpu", "InstanceNormalization",
                      cpu::creatorOf<InstanceNormCpu>(cpu::supportsAll, cpu::kWideFloats));
}

}  // namespace opkit::ops::layer_norm
