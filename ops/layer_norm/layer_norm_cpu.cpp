// LayerNormalization and InstanceNormalization on the CPU, f32 and f64: one row at a time, first the mean, then
// deviations from it, so that a large mean costs no precision. Short rows of f32 are transposed and normalised
// together.
#include <cmath>

#include "engine/backend/cpu/cpu_kernel.h"
#include "engine/backend/cpu/double_ops.h"
#include "engine/backend/cpu/row_kernel.h"
#include "engine/backend/cpu/short_rows.h"
#include "ops/layer_norm/layer_norm.h"
#include "ops/layer_norm/norm_vectors.h"

namespace opkit::ops::layer_norm {
namespace {

constexpr int64_t kLongestTogether = 128;  // elements of a row; a single longer one costs less by itself

class NormCpu : public cpu::CpuKernel, public cpu::RowKernel {
 public:
  using CpuKernel::CpuKernel;

 protected:
  virtual NormRows rowsOf(const Shape& x) const = 0;

  Status onRun(TensorList inputs, TensorList outputs) override {
    const NormRows rows = rowsOf(inputs[0]->desc.shape);
    if (outputs[0]->desc.elements() == 0 && rows.rows == 0) return Status::ok();
    if (inputs[0]->desc.dtype == DType::Float32 && rows.extent > 0 && rows.extent <= kLongestTogether &&
        (rows.channels == 0 || rows.rowChannels == 1)) {
      cpu::forEachBlockOfRows(pool_, rows.rows, rows.extent, 3, [&](int64_t first, int64_t count) {
        normaliseBlock(rows, first, count, inputs, outputs);
      });
      return Status::ok();
    }
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
    const int64_t span = rows.extent / rows.rowChannels;
    int64_t channel = row * rows.rowChannels % rows.channels;
    for (int64_t i = 0; i < rows.extent; i += span, ++channel)
      cpu::normalise(x + i, mean, factor, scale[channel], bias ? bias[channel] : T(0), y + i, span);
  }
  /// Short rows, each of one channel if they have channels.
  static void normaliseBlock(const NormRows& rows, int64_t first, int64_t count, TensorList inputs,
                             TensorList outputs) {
    const float *scale = elementsOf<float>(inputs, 1), *bias = elementsOf<float>(inputs, 2);
    double mean[cpu::kMostShortRows], factor[cpu::kMostShortRows];
    float rowScale[cpu::kMostShortRows] = {}, rowBias[cpu::kMostShortRows] = {};
    NormColumns columns{.length = rows.extent, .centred = rows.centred, .epsilon = double{rows.epsilon}};
    if (rows.channels == 0) {
      columns.scale = scale, columns.bias = bias;
    } else {
      columns.rowScale = rowScale, columns.rowBias = rowBias;
      for (int64_t i = 0, channel = first % rows.channels; i < count; ++i) {
        rowScale[i] = scale[channel];
        rowBias[i] = bias ? bias[channel] : 0.0f;
        channel = channel + 1 == rows.channels ? 0 : channel + 1;
      }
    }
    cpu::RowTile tile(elementsOf<float>(inputs, 0) + first * rows.extent, count, rows.extent);
    columns.step = tile.step();
    normaliseColumns(columns, tile.elements(0), mean, factor);
    tile.copyTo(elementsOf<float>(outputs, 0) + first * rows.extent);
    for (const auto& [output, values] : {std::pair(1, mean), std::pair(2, factor)})
      for (int64_t i = 0; has(outputs, static_cast<size_t>(output)) && i < count; ++i)
        elementsOf<float>(outputs, static_cast<size_t>(output))[first + i] = static_cast<float>(values[i]);
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
