// GridSample on the CPU: the elements and weights of a block of places are found once, then gathered from every
// channel.
#include <algorithm>

#include "engine/backend/cpu/cpu_kernel.h"
#include "engine/backend/cpu/cpu_scratch.h"
#include "ops/grid_sample/grid_places_wide.h"
#include "ops/grid_sample/grid_plan.h"
#include "ops/grid_sample/grid_sample_parts.h"
#include "ops/resize/resample_rows_wide.h"

namespace opkit::ops::grid_sample {
namespace {

constexpr int64_t kBlock = 128;    // places whose taps are kept
constexpr int64_t kChannels = 32;  // of one task

/// Taps of a block of places along one axis: -1 for an element that counts as 0.
template <class W>
struct AxisTaps {
  int64_t count = 1;
  int32_t at[4][kBlock] = {};
  W weight[4][kBlock];
};

int64_t insideOf(const GridSampleParamsT& params, int64_t at, int64_t extent) {
  if (at >= 0 && at < extent) return at;
  if (params.padding == GridPadding::Zeros) return -1;
  if (params.padding == GridPadding::Border) return std::clamp<int64_t>(at, 0, extent - 1);
  // At most 4 elements outside, but there may be fewer than 4 inside.
  const int64_t edge = params.align_corners ? 0 : 1;
  if (extent == 1) return 0;
  while (at < 0 || at >= extent) at = at < 0 ? -at - edge : 2 * (extent - 1) - at + edge;
  return at;
}

/// The place is of the grid's precision P, weights of the images' W.
template <class W, class P>
void weigh(GridMode mode, P place, P below, int64_t p, AxisTaps<W>& taps) {
  const auto part = static_cast<W>(static_cast<double>(place) - static_cast<double>(below));
  const W a = W(-0.75), rest = 1 - part;
  if (mode == GridMode::Nearest) {
    taps.weight[0][p] = 1;
  } else if (mode == GridMode::Linear) {
    taps.weight[0][p] = rest;
    taps.weight[1][p] = part;
  } else {
    taps.weight[0][p] = a * part * rest * rest;
    taps.weight[1][p] = rest * (1 + part - (a + 2) * part * part);
    taps.weight[2][p] = part * (1 + rest - (a + 2) * rest * rest);
    taps.weight[3][p] = a * rest * part * part;
  }
}

/// The taps of `count` coordinates, `step` apart.
template <class W, class P>
void findAxisTaps(const GridSampleParamsT& params, int64_t extent, const P* coordinates, int64_t step, int64_t count,
                  AxisTaps<W>& taps) {
  P places[kBlock], below[kBlock];
  findPlaces({params.mode, params.padding, params.align_corners, extent}, coordinates, step, count, places, below);
  const int64_t before = params.mode == GridMode::Cubic ? 1 : 0;
  taps.count = tapsOf(params.mode);
  for (int64_t p = 0; p < count; ++p) weigh(params.mode, places[p], below[p], p, taps);
  for (int64_t k = 0; k < taps.count; ++k)
    for (int64_t p = 0; p < count; ++p)
      taps.at[k][p] = static_cast<int32_t>(insideOf(params, static_cast<int64_t>(below[p]) - before + k, extent));
}

template <class T>
class GridSampleCpu final : public cpu::CpuKernel {
 public:
  GridSampleCpu(const CreateArgs& args, Backend& backend)
      : CpuKernel(args, backend), params_(args.params<GridSampleParams>()), axisTaps_(tapsOf(params_.mode)) {}

  Result<size_t> scratchBytes(TensorList inputs, TensorList) override {
    plan(inputs);
    return cpu::scratchBytesOf(threadFloats_ * static_cast<int64_t>(pool_.threadCount()));
  }
  Status onResize(TensorList inputs, TensorList) override {
    plan(inputs);
    return Status::ok();
  }

 protected:
  Status onRun(TensorList inputs, TensorList outputs) override {
    if (outputs[0]->desc.elements() == 0) return Status::ok();
    visitDType(inputs[1]->desc.dtype, [&](auto tag) {
      using G = decltype(tag);
      if constexpr (std::is_same_v<G, Half> || std::is_floating_point_v<G>)
        sample(inputs[0]->data<T>().data(), inputs[1]->data<G>().data(), outputs[0]->data<T>().data());
    });
    return Status::ok();
  }

 private:
  void plan(TensorList inputs) {
    plan_ = planGrid(inputs[0]->desc.shape, inputs[1]->desc.shape);
    taps_ = 1;
    for (size_t d = 0; d < plan_.axes; ++d) taps_ *= axisTaps_;
    threadFloats_ =
        cpu::scratchPart(kBlock * taps_ * (1 + static_cast<int64_t>(sizeof(T)) / static_cast<int64_t>(sizeof(float))));
  }

  template <class G>
  void sample(const T* x, const G* grid, T* y) const {
    const int64_t blocks = (plan_.positions + kBlock - 1) / kBlock;
    const int64_t parts = (plan_.channels + kChannels - 1) / kChannels;
    const auto one = [&](size_t index, size_t thread) {
      const int64_t task = static_cast<int64_t>(index), part = task % parts, block = task / parts % blocks;
      const int64_t image = task / parts / blocks, first = block * kBlock;
      const int64_t count = std::min(kBlock, plan_.positions - first);
      T* weights = reinterpret_cast<T*>(cpu::scratchFloats(scratch(), threadFloats_ * static_cast<int64_t>(thread)));
      auto* at = reinterpret_cast<int32_t*>(weights + kBlock * taps_);
      const G* places = grid + (image * plan_.positions + first) * static_cast<int64_t>(plan_.axes);
      bool isOutside[kBlock];
      findTaps(places, count, at, weights, isOutside);
      for (int64_t c = part * kChannels; c < std::min(plan_.channels, (part + 1) * kChannels); ++c) {
        const int64_t plane = image * plan_.channels + c;
        T* to = y + plane * plan_.positions + first;
        resize::gatherSums(x + plane * plan_.plane(), resize::RowTaps<T>{at, weights, taps_, count}, to);
        for (int64_t p = 0; p < count; ++p)
          if (isOutside[p]) to[p] = 0;
      }
    };
    pool_.parallelFor(static_cast<size_t>(plan_.batch * blocks * parts), std::ref(one));
  }

  /// The taps of a block: all first ones, then all second ones, ... isOutside[p] becomes whether none counts.
  template <class G>
  void findTaps(const G* places, int64_t count, int32_t* at, T* weights, bool* isOutside) const {
    using P = std::conditional_t<std::is_same_v<G, double>, double, float>;
    AxisTaps<T> axes[kMaxAxes];
    for (size_t d = 0; d < kMaxAxes - plan_.axes; ++d) std::fill_n(axes[d].weight[0], count, T{1});
    const auto step = static_cast<int64_t>(plan_.axes);
    for (size_t k = 0; k < plan_.axes; ++k) {  // coordinates come innermost first
      const size_t d = kMaxAxes - 1 - k;
      if constexpr (std::is_same_v<G, Half>) {
        P widened[kBlock];
        for (int64_t p = 0; p < count; ++p) widened[p] = toFloat(places[p * step + static_cast<int64_t>(k)]);
        findAxisTaps(params_, plan_.inputs[d], widened, 1, count, axes[d]);
      } else {
        findAxisTaps(params_, plan_.inputs[d], places + k, step, count, axes[d]);
      }
    }
    joinAxes(axes, count, at, weights);
    for (int64_t p = 0; p < count; ++p) isOutside[p] = !fillMissing(at + p, weights + p, count);
  }

  /// -1 where a tap does not count.
  void joinAxes(const AxisTaps<T>* axes, int64_t count, int32_t* at, T* weights) const {
    const auto high = static_cast<int32_t>(plan_.inputs[1]), wide = static_cast<int32_t>(plan_.inputs[2]);
    for (int64_t a = 0; a < axes[0].count; ++a)
      for (int64_t b = 0; b < axes[1].count; ++b)
        for (int64_t c = 0; c < axes[2].count; ++c, at += count, weights += count)
          for (int64_t p = 0; p < count; ++p) {
            const int32_t i = axes[0].at[a][p], j = axes[1].at[b][p], k = axes[2].at[c][p];
            weights[p] = axes[0].weight[a][p] * axes[1].weight[b][p] * axes[2].weight[c][p];
            at[p] = (i | j | k) >= 0 && weights[p] != 0 ? (i * high + j) * wide + k : -1;
          }
  }

  /// A tap that does not count shares the element and the weight of one that does: a weight of 0 would make NaN of an
  /// infinity. False if no tap of the place counts; its taps lie `step` apart.
  bool fillMissing(int32_t* at, T* weights, int64_t step) const {
    int64_t counting = -1, missing = 0;
    for (int64_t t = 0; t < taps_ * step; t += step) {
      if (at[t] >= 0)
        counting = t;
      else
        ++missing;
    }
    for (int64_t t = 0; missing > 0; t += step) {
      if (at[t] >= 0) continue;
      at[t] = counting < 0 ? 0 : at[counting];
      weights[t] = counting < 0 ? 0 : weights[counting] /= 2;
      --missing;
    }
    return counting >= 0;
  }

  GridSampleParamsT params_;
  int64_t axisTaps_;
  GridPlan plan_;
  int64_t taps_ = 1;
  int64_t threadFloats_ = 0;
};

Status supports(const CreateArgs& args) {
  if (args.input(0).elements() <= INT32_MAX) return Status::ok();
  return Status::unsupported("{}: the CPU kernel reads up to {} elements, got {}", args.def.type, INT32_MAX,
                             args.input(0).elements());
}

}  // namespace

void addCpu(OpRegistry& registry) {
  registry.addCreator("cpu", "GridSample", cpu::creatorOf<GridSampleCpu<float>>(supports, DTypeSet(DType::Float32)));
  registry.addCreator("cpu", "GridSample", cpu::creatorOf<GridSampleCpu<double>>(supports, DTypeSet(DType::Float64)));
}

}  // namespace opkit::ops::grid_sample
