// RoiAlign on the CPU: the neighbours and weights of the samples of a block of bins are found once, then gathered from
// every channel.
#include <algorithm>
#include <cmath>

#include "engine/backend/cpu/cpu_kernel.h"
#include "engine/backend/cpu/cpu_scratch.h"
#include "ops/resize/resample_rows_wide.h"
#include "ops/roi_align/roi_align.h"

namespace opkit::ops::roi_align {
namespace {

constexpr int64_t kBins = 128;     // of a block
constexpr int64_t kSamples = 16;   // of each bin in one table, 4 taps each
constexpr int64_t kChannels = 32;  // of one task

/// A region along one axis.
template <class T>
struct Side {
  T start = 0;
  T bin = 0;        // width
  int64_t samples;  // of a bin
};
template <class T>
Side<T> sideOf(const RoiAlignParamsT& params, T low, T high, int64_t bins) {
  const T offset = params.half_pixel ? T(0.5) : T{0};
  Side<T> side;
  side.start = low * params.spatial_scale - offset;
  T size = high * params.spatial_scale - offset - side.start;
  if (!params.half_pixel) size = std::max(size, T{1});
  side.bin = size / static_cast<T>(bins);
  side.samples = params.sampling_ratio;
  if (side.samples == 0)
    side.samples = side.bin > 0 ? static_cast<int64_t>(std::ceil(std::min(side.bin, T{kMostSamples}))) : 0;
  return side;
}

/// The neighbours of sample `k` of bin `b`.
template <class T>
struct Pair {
  int64_t low = 0, high = 0;
  T near = 0, far = 0;
  bool isInside = true;
};
template <class T>
Pair<T> pairOf(const Side<T>& side, int64_t b, int64_t k, int64_t extent) {
  T at = side.start + static_cast<T>(b) * side.bin +
         (static_cast<T>(k) + T(0.5)) * side.bin / static_cast<T>(side.samples);
  if (!(at >= -1) || at > static_cast<T>(extent)) return {.isInside = false};
  at = std::max(at, T{0});
  Pair<T> pair;
  pair.low = static_cast<int64_t>(at);
  if (pair.low >= extent - 1) return {extent - 1, extent - 1, 1, 0};
  pair.high = pair.low + 1;
  pair.far = at - static_cast<T>(pair.low);
  pair.near = 1 - pair.far;
  return pair;
}

template <class T>
class RoiAlignCpu final : public cpu::CpuKernel {
 public:
  RoiAlignCpu(const CreateArgs& args, Backend& backend)
      : CpuKernel(args, backend), params_(args.params<RoiAlignParams>()) {}

  Result<size_t> scratchBytes(TensorList, TensorList) override {
    return cpu::scratchBytesOf(kThreadFloats * static_cast<int64_t>(pool_.threadCount()));
  }
  Status onResize(TensorList inputs, TensorList) override {
    plan_ = planRoi(params_, inputs[0]->desc.shape, inputs[1]->desc.shape);
    return Status::ok();
  }

 protected:
  Status onRun(TensorList inputs, TensorList outputs) override {
    const int64_t* images = inputs[2]->data<int64_t>().data();
    for (int64_t r = 0; r < plan_.regions; ++r)
      if (images[r] < 0 || images[r] >= plan_.batches) return badImage(plan_.batches, images[r]);
    if (outputs[0]->desc.elements() == 0) return Status::ok();
    const T* x = inputs[0]->data<T>().data();
    const T* rois = inputs[1]->data<T>().data();
    T* y = outputs[0]->data<T>().data();
    const int64_t parts = (plan_.channels + kChannels - 1) / kChannels;
    const auto one = [&](size_t index, size_t thread) {
      const int64_t region = static_cast<int64_t>(index) / parts, part = static_cast<int64_t>(index) % parts;
      const int64_t first = part * kChannels, count = std::min(kChannels, plan_.channels - first);
      const T* corners = rois + 4 * region;
      const Sides sides{sideOf(params_, corners[1], corners[3], plan_.rows),
                        sideOf(params_, corners[0], corners[2], plan_.columns)};
      pool(sides, x + (images[region] * plan_.channels + first) * plan_.plane(),
           y + (region * plan_.channels + first) * plan_.bins(), count,
           cpu::scratchFloats(scratch(), kThreadFloats * static_cast<int64_t>(thread)));
    };
    pool_.parallelFor(static_cast<size_t>(plan_.regions * parts), std::ref(one));
    return Status::ok();
  }

 private:
  static constexpr int64_t kTable = kBins * kSamples * 4;
  static constexpr int64_t kThreadFloats =
      (kTable * static_cast<int64_t>(sizeof(T) + sizeof(int32_t)) + kBins * static_cast<int64_t>(sizeof(T))) /
      static_cast<int64_t>(sizeof(float));
  struct Sides {
    Side<T> down, across;
  };

  /// `channels` planes of one region.
  void pool(const Sides& sides, const T* x, T* y, int64_t channels, float* scratch) const {
    const int64_t samples = sides.down.samples * sides.across.samples;
    if (samples == 0) return std::fill_n(y, channels * plan_.bins(), T{0}), void();
    T* weights = reinterpret_cast<T*>(scratch);
    T* sums = weights + kTable;
    auto* at = reinterpret_cast<int32_t*>(sums + kBins);
    for (int64_t bin = 0; bin < plan_.bins(); bin += kBins) {
      const int64_t bins = std::min(kBins, plan_.bins() - bin);
      for (int64_t sample = 0; sample < samples; sample += kSamples) {
        const int64_t taken = std::min(kSamples, samples - sample);
        for (int64_t b = 0; b < bins; ++b)
          for (int64_t s = 0; s < taken; ++s)
            findTaps(sides, bin + b, sample + s, at + 4 * s * bins + b, weights + 4 * s * bins + b, bins);
        const resize::RowTaps<T> taps{at, weights, 4 * taken, bins};
        for (int64_t c = 0; c < channels; ++c) {
          T* to = y + c * plan_.bins() + bin;
          fold(x + c * plan_.plane(), taps, sample == 0, sums, to);
          if (params_.mode == RoiMode::Mean && sample + taken == samples)
            for (int64_t b = 0; b < bins; ++b) to[b] /= static_cast<T>(samples);
        }
      }
    }
  }
  /// No sample inside has this weight. One outside has element 0 for its neighbours, which may be infinite or NaN.
  static constexpr T kOutside = -T{0};
  static T term(const T* plane, T weight, int32_t at) { return std::signbit(weight) ? T{0} : weight * plane[at]; }

  /// The four taps of a sample, `step` apart.
  void findTaps(const Sides& sides, int64_t bin, int64_t sample, int32_t* at, T* weights, int64_t step) const {
    const int64_t wide = sides.across.samples;
    const Pair<T> down = pairOf(sides.down, bin / plan_.columns, sample / wide, plan_.height);
    const Pair<T> across = pairOf(sides.across, bin % plan_.columns, sample % wide, plan_.width);
    const int64_t rows[2] = {down.low * plan_.width, down.high * plan_.width};
    for (int64_t t = 0; t < 4; ++t) {
      at[t * step] = static_cast<int32_t>(rows[t / 2] + (t % 2 == 0 ? across.low : across.high));
      const T weight = (t / 2 == 0 ? down.near : down.far) * (t % 2 == 0 ? across.near : across.far);
      weights[t * step] = down.isInside && across.isInside ? weight : kOutside;
    }
  }
  /// Joins the taps of a table into the results of its bins.
  void fold(const T* plane, const resize::RowTaps<T>& taps, bool isFirst, T* sums, T* y) const {
    if (params_.mode == RoiMode::Mean) {
      T* to = isFirst ? y : sums;
      if (std::isfinite(plane[0]))
        resize::gatherSums(plane, taps, to);
      else
        sumWithin(plane, taps, to);
      for (int64_t b = 0; b < taps.count && !isFirst; ++b) y[b] += sums[b];
      return;
    }
    for (int64_t t = 0; t < taps.taps; ++t)
      for (int64_t b = 0; b < taps.count; ++b) {
        const T value = term(plane, taps.weights[t * taps.count + b], taps.at[t * taps.count + b]);
        y[b] = isFirst && t == 0 ? value : std::max(y[b], value);
      }
  }
  static void sumWithin(const T* plane, const resize::RowTaps<T>& taps, T* sums) {
    std::fill_n(sums, taps.count, T{0});
    for (int64_t t = 0; t < taps.taps; ++t)
      for (int64_t b = 0; b < taps.count; ++b)
        sums[b] += term(plane, taps.weights[t * taps.count + b], taps.at[t * taps.count + b]);
  }

  RoiAlignParamsT params_;
  RoiPlan plan_;
};

Status supports(const CreateArgs& args) {
  const RoiPlan plan = planRoi(args.params<RoiAlignParams>(), args.input(0).shape, args.input(1).shape);
  if (plan.plane() <= INT32_MAX) return Status::ok();
  return Status::unsupported("RoiAlign: the CPU kernel takes planes of up to {} elements, got {}", INT32_MAX,
                             plan.plane());
}

}  // namespace

void addCpu(OpRegistry& registry) {
  registry.addCreator("cpu", "RoiAlign", cpu::creatorOf<RoiAlignCpu<float>>(supports, DTypeSet(DType::Float32)));
  registry.addCreator("cpu", "RoiAlign", cpu::creatorOf<RoiAlignCpu<double>>(supports, DTypeSet(DType::Float64)));
}

}  // namespace opkit::ops::roi_align
