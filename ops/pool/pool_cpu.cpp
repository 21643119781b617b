// Pooling on the CPU, f32: the rows of a window are joined into one padded row by vectors,
// then its columns into the outputs (pool_rows.h); of narrow planes without storing the row. Global pooling folds each
// plane.
#include <cmath>

#include "engine/backend/cpu/cpu_kernel.h"
#include "engine/backend/cpu/cpu_scratch.h"
#include "engine/backend/cpu/double_ops.h"
#include "engine/backend/cpu/parallel.h"
#include "engine/backend/cpu/row_kernel.h"
#include "engine/backend/cpu/vector_ops.h"
#include "ops/pool/pool.h"
#include "ops/pool/pool_bytes_cpu.h"
#include "ops/pool/pool_means.h"
#include "ops/pool/pool_norm_cpu.h"
#include "ops/pool/pool_rows.h"
#include "ops/pool/pool_scalar_cpu.h"

namespace opkit::ops::pool {
namespace {

struct Max {
  static constexpr float kStart = -INFINITY;
  static constexpr auto& rows = maxRows;
  static constexpr auto& windows = maxWindows;
  static constexpr auto& planes = maxPlanes;
};
struct Sum {
  static constexpr float kStart = 0;
  static constexpr auto& rows = sumRows;
  static constexpr auto& windows = sumWindows;
  static constexpr auto& planes = meanPlanes;
};

template <class Join>
class PoolCpu final : public cpu::CpuKernel, public cpu::RowKernel {
 public:
  PoolCpu(const CreateArgs& args, Backend& backend) : CpuKernel(args, backend), params_(args.params<PoolParams>()) {}
  cpu::RowSplit rows(TensorList inputs, TensorList) const override { return cpu::leadingRows(inputs, 2); }

  Result<size_t> scratchBytes(TensorList inputs, TensorList) override {
    OPKIT_TRY(plan(inputs));
    return cpu::scratchBytesOf(rowFloats_ * static_cast<int64_t>(pool_.threadCount()));
  }
  Status onResize(TensorList inputs, TensorList) override {
    OPKIT_TRY(plan(inputs));
    walk_ = {axes_};
    planRows();
    const WindowAxis& wide = axes_[2];
    columnTaps_.clear();
    for (int64_t o = 0; o < wide.output; ++o) columnTaps_.push_back(static_cast<float>(tapsOf(wide, o)));
    isNarrow_ = std::max(wide.input, wide.output) <= mostNarrow() && wide.output > 0;
    if (isNarrow_) planNarrow();
    return Status::ok();
  }

 protected:
  Status onRun(TensorList inputs, TensorList outputs) override {
    if (outputs[0]->desc.elements() == 0) return Status::ok();
    const int64_t inputFloats = windows_.height * windows_.width;
    const int64_t outputFloats = static_cast<int64_t>(windows_.rows.size()) * axes_[2].output;
    if (isNarrow_) {
      poolNarrow(floatsOf(*inputs[0]), floatsOf(*outputs[0]), inputFloats, outputFloats);
      return Status::ok();
    }
    const auto plane = [&](size_t index, size_t thread) {
      const auto i = static_cast<int64_t>(index);
      poolPlane(floatsOf(*inputs[0]) + i * inputFloats, floatsOf(*outputs[0]) + i * outputFloats,
                cpu::scratchFloats(scratch(), rowFloats_ * static_cast<int64_t>(thread)));
      if constexpr (kMean)
        repairMeans(walk_, i, i + 1, params_.count_include_pad, floatsOf(*inputs[0]), floatsOf(*outputs[0]));
    };
    pool_.parallelFor(static_cast<size_t>(planes_), std::ref(plane));
    return Status::ok();
  }

 private:
  static constexpr bool kMean = std::is_same_v<Join, Sum>;
  static constexpr int64_t kNarrowGrain = 8192;  // input elements that are worth a thread

  Status plan(TensorList inputs) {
    OPKIT_ASSIGN(PoolPlan planned, planPool(params_, inputs[0]->desc.shape));
    planes_ = planned.planes;
    axes_ = padWindowRank(std::move(planned.axes), 3);
    const WindowAxis& wide = axes_[2];
    const int64_t needed = std::max<int64_t>(wide.output - 1, 0) * wide.stride + (wide.kernel - 1) * wide.dilation + 1;
    valid_ = std::clamp<int64_t>(needed - wide.padBegin, 0, wide.input);
    rowFloats_ = cpu::scratchPart(std::max(needed, wide.padBegin) + kRowSlack);
    return Status::ok();
  }

  void planRows() {
    const WindowAxis &deep = axes_[0], &high = axes_[1], &wide = axes_[2];
    windows_ = {.width = wide.input,
                .height = deep.input * high.input,
                .steps = {deep.dilation * high.input * wide.input, high.dilation * wide.input},
                .columnTaps = wide.kernel};
    rowTaps_.clear();
    for (int64_t d = 0; d < deep.output; ++d)
      for (int64_t h = 0; h < high.output; ++h) {
        const TapRange slices = deep.tapsInside(d), rows = high.tapsInside(h);
        const bool isRead = slices.count() > 0 && rows.count() > 0;
        const int64_t first = isRead ? deep.position(d, slices.begin) * high.input + high.position(h, rows.begin) : 0;
        windows_.rows.push_back(isRead ? RowTaps{first, slices.count(), rows.count()} : RowTaps{});
        rowTaps_.push_back(static_cast<float>(tapsOf(deep, d) * tapsOf(high, h)));
      }
  }

  void planNarrow() {
    const WindowAxis& wide = axes_[2];
    if constexpr (kMean)
      for (const float rowTaps : rowTaps_)
        for (const float columnTaps : columnTaps_) windows_.divisors.push_back(std::max(rowTaps * columnTaps, 1.0f));
    for (int64_t k = 0; k < wide.kernel; ++k)
      for (int64_t o = 0; o < wide.output; ++o) {
        const int64_t column = wide.position(o, k);
        const bool isInside = column >= 0 && column < wide.input;
        windows_.columns.push_back(static_cast<int32_t>(isInside ? column : wide.input));
      }
  }

  void poolNarrow(const float* x, float* y, int64_t inputFloats, int64_t outputFloats) const {
    const int64_t grain = std::max<int64_t>(kNarrowGrain / std::max<int64_t>(inputFloats, 1), 1);
    cpu::parallelRanges(pool_, planes_, grain, [&](int64_t begin, int64_t end) {
      Join::planes(windows_, end - begin, x + begin * inputFloats, y + begin * outputFloats);
      if constexpr (kMean) repairMeans(walk_, begin, end, params_.count_include_pad, x, y);
    });
  }

  /// The taps that count for the divisor of the mean, along one axis.
  int64_t tapsOf(const WindowAxis& axis, int64_t o) const {
    return params_.count_include_pad ? axis.tapsPadded(o).count() : axis.tapsInside(o).count();
  }

  /// `row` holds one row of joined rows, with the padding around it.
  void poolPlane(const float* x, float* y, float* row) const {
    const WindowAxis& wide = axes_[2];
    const RowWindows windows{wide.stride, wide.dilation, wide.kernel, wide.output};
    std::fill_n(row, rowFloats_, Join::kStart);
    for (size_t o = 0; o < windows_.rows.size(); ++o, y += wide.output) {
      const RowTaps& taps = windows_.rows[o];
      Join::rows(x + taps.first * wide.input, windows_.steps, taps, row + wide.padBegin, valid_);
      Join::windows(row, windows, y);
      if constexpr (kMean)
        for (int64_t i = 0; i < wide.output; ++i)
          y[i] /= std::max(rowTaps_[o] * columnTaps_[static_cast<size_t>(i)], 1.0f);
    }
  }

  PoolParamsT params_;
  int64_t planes_ = 0;
  std::vector<WindowAxis> axes_;             // depth, height, width
  WindowWalk walk_;                          // the same, in the form for recomputing means
  int64_t valid_ = 0;                        // input columns that some window reads
  int64_t rowFloats_ = 0;                    // of one joined row: the scratch memory of a thread
  std::vector<float> rowTaps_, columnTaps_;  // their product divides the mean
  bool isNarrow_ = false;
  PlaneWindows windows_;
};

template <bool kMean>
class GlobalPoolCpu final : public cpu::CpuKernel, public cpu::RowKernel {
 public:
  using CpuKernel::CpuKernel;
  cpu::RowSplit rows(TensorList inputs, TensorList) const override { return cpu::leadingRows(inputs, 2); }

 protected:
  Status onRun(TensorList inputs, TensorList outputs) override {
    const int64_t planes = outputs[0]->desc.elements();
    if (planes == 0) return Status::ok();
    const int64_t extent = inputs[0]->desc.elements() / planes;
    cpu::visitWideFloat(inputs[0]->desc.dtype, [&](auto tag) {
      using T = decltype(tag);
      const T* x = inputs[0]->data<T>().data();
      T* y = outputs[0]->data<T>().data();
      cpu::parallelRows(pool_, planes, extent, [&](int64_t i) {
        y[i] = kMean ? static_cast<T>(cpu::sumOf(x + i * extent, extent) / static_cast<double>(extent))
                     : cpu::maxOf(x + i * extent, extent);
      });
    });
    return Status::ok();
  }
};

Status supports(const CreateArgs& args) {
  if (args.outputs.size() > 1) return Status::unsupported("{}: the CPU kernel gives no indices", args.def.type);
  return Status::ok();
}

}  // namespace

void addCpu(OpRegistry& registry) {
  constexpr DTypeSet kTypes{DType::Float32};
  registry.addCreator("cpu", "MaxPool", cpu::creatorOf<PoolCpu<Max>>(supports, kTypes, "rows"));
  registry.addCreator("cpu", "MaxPool", byteMaxPool());
  registry.addCreator("cpu", "MaxPool", scalarMaxPool());
  registry.addCreator("cpu", "AveragePool", cpu::creatorOf<PoolCpu<Sum>>(supports, kTypes, "rows"));
  registry.addCreator("cpu", "AveragePool", scalarAveragePool());
  registry.addCreator("cpu", "LpPool", normPool());
  registry.addCreator("cpu", "GlobalMaxPool", cpu::creatorOf<GlobalPoolCpu<false>>(cpu::supportsAll, cpu::kWideFloats));
  registry.addCreator("cpu", "GlobalAveragePool",
                      cpu::creatorOf<GlobalPoolCpu<true>>(cpu::supportsAll, cpu::kWideFloats));
}

}  // namespace opkit::ops::pool
