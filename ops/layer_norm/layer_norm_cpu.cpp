// LayerNormalization and InstanceNormalization on the CPU, f32: one row at a time, first the mean, then deviations from
// it, so that a large mean costs no precision.
#include <cmath>

#include "engine/backend/cpu/cpu_kernel.h"
#include "engine/backend/cpu/vector_ops.h"
#include "ops/layer_norm/layer_norm.h"

namespace opkit::ops::layer_norm {
namespace {

class NormCpu : public cpu::CpuKernel {
 public:
  using CpuKernel::CpuKernel;

 protected:
  virtual NormRows rowsOf(const Shape& x) const = 0;

  Status onRun(TensorList inputs, TensorList outputs) override {
    const NormRows rows = rowsOf(inputs[0]->desc.shape);
    if (outputs[0]->desc.elements() == 0 && rows.rows == 0) return Status::ok();
    cpu::parallelRows(pool_, rows.rows, rows.extent * 3,
                      [&](int64_t row) { normaliseRow(rows, row, inputs, outputs); });
    return Status::ok();
  }

 private:
  static void normaliseRow(const NormRows& rows, int64_t row, TensorList inputs, TensorList outputs) {
    const float* x = floatsOf(*inputs[0]) + row * rows.extent;
    const auto count = static_cast<double>(rows.extent);
    const double mean = cpu::sumOf(x, rows.extent) / count;
    const double variance = cpu::deviationOf(x, mean, rows.extent) / count;
    const auto factor = static_cast<float>(1 / std::sqrt(variance + rows.epsilon));
    if (has(outputs, 1)) floatsOf(*outputs[1])[row] = static_cast<float>(mean);
    if (has(outputs, 2)) floatsOf(*outputs[2])[row] = factor;
    const float* scale = floatsOf(*inputs[1]);
    const float* bias = has(inputs, 2) ? floatsOf(*inputs[2]) : nullptr;
    float* y = floatsOf(*outputs[0]) + row * rows.extent;
    if (rows.channels == 0) return cpu::normalise(x, mean, factor, scale, bias, y, rows.extent);
    const int64_t channel = row % rows.channels;
    cpu::normalise(x, mean, 1.0f, nullptr, nullptr, y, rows.extent);
    cpu::affine(y, 0.0f, factor * scale[channel], bias ? bias[channel] : 0.0f, y, rows.extent);
  }
};

class LayerNormCpu final : public NormCpu {
 public:
  LayerNormCpu(const CreateArgs& args, Backend& backend)
      : NormCpu(args, backend), params_(args.params<LayerNormParams>()) {}

 protected:
  NormRows rowsOf(const Shape& x) const override { return layerRows(params_, x); }

 private:
  LayerNormParamsT params_;
};

class InstanceNormCpu final : public NormCpu {
 public:
  InstanceNormCpu(const CreateArgs& args, Backend& backend)
      : NormCpu(args, backend), params_(args.params<InstanceNormParams>()) {}

 protected:
  NormRows rowsOf(const Shape& x) const override { return instanceRows(params_, x); }

 private:
  InstanceNormParamsT params_;
};

}  // namespace

void addCpu(OpRegistry& registry) {
  constexpr DTypeSet kTypes{DType::Float32};
  registry.addCreator("cpu", "LayerNormalization", cpu::creatorOf<LayerNormCpu>(cpu::supportsAll, kTypes));
  registry.addCreator("cpu", "InstanceNormalization", cpu::creatorOf<InstanceNormCpu>(cpu::supportsAll, kTypes));
}

}  // namespace opkit::ops::layer_norm
