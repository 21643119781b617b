// GridSample on the CPU: the elements and weights of a block of places are found once, then gathered from every
// channel.
#include <algorithm>
#include <cmath>

#include "engine/backend/cpu/cpu_kernel.h"
#include "engine/backend/cpu/cpu_scratch.h"
#include "ops/grid_sample/grid_plan.h"
#include "ops/grid_sample/grid_sample_parts.h"
#include "ops/resize/resample_rows_wide.h"

namespace opkit::ops::grid_sample {
namespace {

constexpr int64_t kBlock = 128;    // places whose taps are kept
constexpr int64_t kChannels = 32;  // of one task

/// Taps along one axis: -1 for an element that counts as 0.
template <class W>
struct AxisTaps {
  int64_t at[4];
  W weight[4];
};

template <class P>
P reflected(P at, P low, P high) {
  const P range = high - low;
  if (!(range > 0)) return low;
  const bool isBelow = at < low;
  const P distance = isBelow ? low - at : at - high;
  if (!(distance > 0)) return at;
  const P times = std::floor(distance / range), rest = distance - times * range;
  const bool isOdd = times - 2 * std::floor(times / 2) != 0;
  return isBelow == isOdd ? high - rest : low + rest;
}

template <class P>
P placeOf(const GridSampleParamsT& params, P coordinate, int64_t extent) {
  const P count = static_cast<P>(extent), last = count - 1;
  const P low = params.align_corners ? P{0} : P(-0.5), high = params.align_corners ? last : count - P(0.5);
  P at = params.align_corners ? (coordinate + 1) * P(0.5) * last : ((coordinate + 1) * count - 1) * P(0.5);
  if (params.mode == GridMode::Nearest) at = std::nearbyint(at);
  if (params.padding == GridPadding::Border) at = at < low ? P{0} : at > high ? last : at;
  if (params.padding == GridPadding::Reflection) at = reflected(at, low, high);
  if (!(at > -3)) at = -3;  // NaN too
  return std::min(at, count + 2);
}

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
AxisTaps<W> tapsAt(const GridSampleParamsT& params, P coordinate, int64_t extent) {
  AxisTaps<W> taps{};
  const P at = placeOf(params, coordinate, extent), below = std::floor(at);
  const auto part = static_cast<W>(static_cast<double>(at) - static_cast<double>(below));
  const auto first = static_cast<int64_t>(below);
  if (params.mode == GridMode::Nearest) {
    taps = {{insideOf(params, static_cast<int64_t>(std::nearbyint(at)), extent)}, {1}};
  } else if (params.mode == GridMode::Linear) {
    taps = {{insideOf(params, first, extent), insideOf(params, first + 1, extent)}, {1 - part, part}};
  } else {
    const W a = W(-0.75), rest = 1 - part;
    for (int64_t k = 0; k < 4; ++k) taps.at[k] = insideOf(params, first - 1 + k, extent);
    taps.weight[0] = a * part * rest * rest;
    taps.weight[1] = rest * (1 + part - (a + 2) * part * part);
    taps.weight[2] = part * (1 + rest - (a + 2) * rest * rest);
    taps.weight[3] = a * rest * part * part;
  }
  return taps;
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
      for (int64_t p = 0; p < count; ++p)
        isOutside[p] = !findTaps(places + p * static_cast<int64_t>(plan_.axes), at + p, weights + p, count);
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

  /// The taps of one place, `step` apart; false if none counts. A tap that does not count shares the element and the
  /// weight of one that does: a weight of 0 would make NaN of an infinity.
  template <class G>
  bool findTaps(const G* place, int32_t* at, T* weights, int64_t step) const {
    using P = std::conditional_t<std::is_same_v<G, double>, double, float>;
    AxisTaps<T> axes[kMaxAxes] = {{{0}, {1}}, {{0}, {1}}, {{0}, {1}}};
    int64_t counts[kMaxAxes] = {1, 1, 1};
    for (size_t k = 0; k < plan_.axes; ++k) {  // coordinates come innermost first
      const size_t d = kMaxAxes - 1 - k;
      P coordinate;
      if constexpr (std::is_same_v<G, Half>)
        coordinate = toFloat(place[k]);
      else
        coordinate = place[k];
      axes[d] = tapsAt<T>(params_, coordinate, plan_.inputs[d]);
      counts[d] = axisTaps_;
    }
    int64_t t = 0, counting = -1;
    for (int64_t a = 0; a < counts[0]; ++a)
      for (int64_t b = 0; b < counts[1]; ++b)
        for (int64_t c = 0; c < counts[2]; ++c, t += step) {
          const int64_t i = axes[0].at[a], j = axes[1].at[b], k = axes[2].at[c];
          const T weight = axes[0].weight[a] * axes[1].weight[b] * axes[2].weight[c];
          const bool hasSay = i >= 0 && j >= 0 && k >= 0 && weight != 0;
          at[t] = hasSay ? static_cast<int32_t>((i * plan_.inputs[1] + j) * plan_.inputs[2] + k) : -1;
          weights[t] = weight;
          if (hasSay) counting = t;
        }
    for (t = 0; t < taps_ * step; t += step) {
      if (at[t] >= 0) continue;
      at[t] = counting < 0 ? 0 : at[counting];
      weights[t] = counting < 0 ? 0 : weights[counting] /= 2;
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
