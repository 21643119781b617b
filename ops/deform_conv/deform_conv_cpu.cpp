// The columns of DeformConv on the CPU, f32 and f64: the elements and weights of a block of places are found once, then
// gathered from every channel of the offset group.
#include <algorithm>
#include <cmath>

#include "engine/backend/cpu/cpu_kernel.h"
#include "engine/backend/cpu/cpu_scratch.h"
#include "ops/deform_conv/deform_conv.h"
#include "ops/resize/resample_rows_wide.h"

namespace opkit::ops::deform_conv {
namespace {

constexpr int64_t kBlock = 128;     // places whose corners are kept
constexpr int64_t kChannels = 128;  // of one task
constexpr int64_t kMostCorners = 8;

/// The elements around a place along an axis; the weight of one outside is 0.
template <class T>
struct Pair {
  int64_t low = 0, high = 0;
  T near = 1, far = 0;

  static Pair of(T place, int64_t extent) {
    if (!(place > -1) || !(place < static_cast<T>(extent))) return {0, 0, 0, 0};  // NaN too
    const T below = std::floor(place);
    const auto low = static_cast<int64_t>(below);
    const T far = place - below;
    return {std::max<int64_t>(low, 0), std::min(low + 1, extent - 1), low < 0 ? 0 : 1 - far,
            low + 1 < extent ? far : 0};
  }
};

template <class T>
class ColumnsCpu final : public cpu::CpuKernel {
 public:
  ColumnsCpu(const CreateArgs& args, Backend& backend)
      : CpuKernel(args, backend), params_(args.params<DeformConvParams>()) {}

  Result<size_t> scratchBytes(TensorList, TensorList) override {
    return cpu::scratchBytesOf(kThreadFloats * static_cast<int64_t>(pool_.threadCount()));
  }
  Status onResize(TensorList inputs, TensorList) override {
    OPKIT_ASSIGN(plan_, planDeform(params_, inputs[0]->desc.shape, params_.kernel_shape));
    corners_ = int64_t{1} << plan_.given;
    return Status::ok();
  }

 protected:
  Status onRun(TensorList inputs, TensorList outputs) override {
    if (outputs[0]->desc.elements() == 0) return Status::ok();
    if (plan_.plane() == 0) {  // nothing but padding
      std::ranges::fill(outputs[0]->data<T>(), T{0});
      return Status::ok();
    }
    const int64_t blocks = (plan_.positions + kBlock - 1) / kBlock;
    const int64_t shares = (plan_.groupChannels() + kChannels - 1) / kChannels;
    const auto one = [&](size_t index, size_t thread) {
      const auto task = static_cast<int64_t>(index);
      const int64_t share = task % shares, block = task / shares % blocks, place = task / shares / blocks;
      gather(place / plan_.taps, place % plan_.taps, block * kBlock, share, thread, inputs,
             outputs[0]->data<T>().data());
    };
    pool_.parallelFor(static_cast<size_t>(plan_.batch * plan_.offsetGroups * plan_.taps * blocks * shares),
                      std::ref(one));
    return Status::ok();
  }

 private:
  static constexpr int64_t kWordBytes = 4;  // of a float and of an index
  static constexpr int64_t kThreadFloats = kBlock * kMostCorners * (1 + static_cast<int64_t>(sizeof(T)) / kWordBytes);

  /// One tap of the outputs from `first` on, for a share of the channels of an offset group (counted over all images).
  void gather(int64_t group, int64_t tap, int64_t first, int64_t share, size_t thread, TensorList inputs, T* y) const {
    const int64_t count = std::min(kBlock, plan_.positions - first), channels = plan_.groupChannels();
    T* weights = reinterpret_cast<T*>(cpu::scratchFloats(scratch(), kThreadFloats * static_cast<int64_t>(thread)));
    auto* at = reinterpret_cast<int32_t*>(weights + kBlock * kMostCorners);
    const int64_t places = group * plan_.taps + tap;
    const T* offsets =
        inputs[1]->data<T>().data() + places * static_cast<int64_t>(plan_.given) * plan_.positions + first;
    const T* mask = has(inputs, 2) ? inputs[2]->data<T>().data() + places * plan_.positions + first : nullptr;
    bool isOutside[kBlock];
    for (int64_t p = 0; p < count; ++p)
      isOutside[p] = !findCorners(tap, first + p, offsets + p, mask ? mask[p] : T{1}, at + p, weights + p, count);
    const int64_t last = std::min(channels, (share + 1) * kChannels);
    for (int64_t c = share * kChannels; c < last; ++c) {
      const int64_t plane = group * channels + c;
      T* to = y + (plane * plan_.taps + tap) * plan_.positions + first;
      resize::gatherSums(inputs[0]->data<T>().data() + plane * plan_.plane(),
                         resize::RowTaps<T>{at, weights, corners_, count}, to);
      for (int64_t p = 0; p < count; ++p)
        if (isOutside[p]) to[p] = mask ? 0 * mask[p] : 0;
    }
  }

  /// The corners of one place, `step` apart; false if none counts. A corner that does not count shares the element and
  /// the weight of one that does: a weight of 0 would make NaN of an infinity.
  bool findCorners(int64_t tap, int64_t position, const T* offset, T mask, int32_t* at, T* weights,
                   int64_t step) const {
    Pair<T> pairs[kMaxAxes];
    for (size_t d = kMaxAxes, k = plan_.given; d-- > 0;) {
      const WindowAxis& axis = plan_.axes[d];
      const int64_t base = axis.position(position % axis.output, tap % axis.kernel);
      if (k > 0)
        pairs[d] = Pair<T>::of(static_cast<T>(base) + offset[static_cast<int64_t>(--k) * plan_.positions], axis.input);
      position /= axis.output;
      tap /= axis.kernel;
    }
    int64_t counting = -1;
    for (int64_t corner = 0; corner < corners_; ++corner) {
      int64_t element = 0;
      T weight = mask;
      bool counts = true;
      for (size_t d = 0; d < kMaxAxes; ++d) {
        const bool isHigh = (corner >> (kMaxAxes - 1 - d)) & 1;
        const T part = isHigh ? pairs[d].far : pairs[d].near;
        counts = counts && part != 0;
        element = element * plan_.axes[d].input + (isHigh ? pairs[d].high : pairs[d].low);
        weight *= part;
      }
      at[corner * step] = counts ? static_cast<int32_t>(element) : -1;
      weights[corner * step] = counts ? weight : 0;
      if (counts) counting = corner * step;
    }
    for (int64_t corner = 0; corner < corners_ * step; corner += step) {
      if (at[corner] >= 0) continue;
      at[corner] = counting < 0 ? 0 : at[counting];
      if (counting >= 0) weights[corner] = weights[counting] /= 2;
    }
    return counting >= 0;
  }

  DeformConvParamsT params_;
  DeformPlan plan_;
  int64_t corners_ = 1;
};

Status supports(const CreateArgs& args) {
  if (args.input(0).elements() <= INT32_MAX) return Status::ok();
  return Status::unsupported("{}: the CPU kernel reads up to {} elements, got {}", args.def.type, INT32_MAX,
                             args.input(0).elements());
}

}  // namespace

void addCpu(OpRegistry& registry) {
  registry.addCreator("cpu", "DeformColumns", cpu::creatorOf<ColumnsCpu<float>>(supports, DTypeSet(DType::Float32)));
  registry.addCreator("cpu", "DeformColumns", cpu::creatorOf<ColumnsCpu<double>>(supports, DTypeSet(DType::Float64)));
}

}  // namespace opkit::ops::deform_conv
