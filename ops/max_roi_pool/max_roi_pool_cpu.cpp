// MaxRoiPool on the CPU: a task folds the bins of a region in several channels, row by row.
#include <algorithm>
#include <cmath>

#include "engine/backend/cpu/cpu_kernel.h"
#include "engine/backend/cpu/double_ops.h"
#include "engine/backend/cpu/vector_ops.h"
#include "ops/max_roi_pool/max_roi_pool.h"

namespace opkit::ops::max_roi_pool {
namespace {

constexpr int64_t kChannels = 32;  // of one task

/// A region along one axis, in elements.
struct Side {
  int64_t start, length, bins, extent;

  /// The elements of a bin that the image has, half open.
  std::pair<int64_t, int64_t> range(int64_t bin) const {
    const int64_t begin = start + bin * length / bins, end = start + ((bin + 1) * length + bins - 1) / bins;
    return {std::clamp<int64_t>(begin, 0, extent), std::clamp<int64_t>(end, 0, extent)};
  }
};

template <class T>
int64_t placeOf(T coordinate, float scale) {
  const T at = coordinate * scale, limit = kFarthest;
  if (!(at > -limit)) return -kFarthest;
  return std::llround(std::min(at, limit));
}

template <class T>
Side sideOf(T low, T high, float scale, int64_t bins, int64_t extent) {
  const int64_t start = placeOf(low, scale);
  return {start, std::max<int64_t>(placeOf(high, scale) - start + 1, 1), bins, extent};
}

template <class T>
class MaxRoiPoolCpu final : public cpu::CpuKernel {
 public:
  MaxRoiPoolCpu(const CreateArgs& args, Backend& backend)
      : CpuKernel(args, backend), params_(args.params<MaxRoiPoolParams>()) {}
  Status onResize(TensorList inputs, TensorList) override {
    plan_ = planRoi(params_, inputs[0]->desc.shape, inputs[1]->desc.shape);
    return Status::ok();
  }

 protected:
  Status onRun(TensorList inputs, TensorList outputs) override {
    const T *x = inputs[0]->data<T>().data(), *rois = inputs[1]->data<T>().data();
    T* y = outputs[0]->data<T>().data();
    for (int64_t r = 0; r < plan_.regions; ++r) {
      const T image = rois[5 * r];
      if (!(std::trunc(image) >= 0 && image < static_cast<T>(plan_.batches)))
        return badImage(plan_.batches, static_cast<double>(image));
    }
    const int64_t parts = (plan_.channels + kChannels - 1) / kChannels;
    const auto one = [&](size_t index, size_t) {
      const int64_t region = static_cast<int64_t>(index) / parts,
                    first = static_cast<int64_t>(index) % parts * kChannels;
      const T* roi = rois + 5 * region;
      const int64_t image = static_cast<int64_t>(roi[0]) * plan_.channels + first;
      pool(sideOf(roi[2], roi[4], params_.spatial_scale, plan_.rows, plan_.height),
           sideOf(roi[1], roi[3], params_.spatial_scale, plan_.columns, plan_.width),
           x + image * plan_.height * plan_.width, y + (region * plan_.channels + first) * plan_.rows * plan_.columns,
           std::min(kChannels, plan_.channels - first));
    };
    pool_.parallelFor(static_cast<size_t>(plan_.regions * parts), std::ref(one));
    return Status::ok();
  }

 private:
  /// `channels` planes of one region.
  void pool(const Side& down, const Side& across, const T* x, T* y, int64_t channels) const {
    const int64_t bins = plan_.rows * plan_.columns, plane = plan_.height * plan_.width;
    for (int64_t row = 0; row < plan_.rows; ++row) {
      const auto [top, bottom] = down.range(row);
      for (int64_t column = 0; column < plan_.columns; ++column, ++y) {
        const auto [left, right] = across.range(column);
        const T* corner = x + top * plan_.width + left;
        for (int64_t c = 0; c < channels; ++c)
          y[c * bins] = left < right && top < bottom ? largestOf(corner + c * plane, bottom - top, right - left) : T{0};
      }
    }
  }
  /// Of a box of rows x columns elements; the first NaN, if there is one.
  T largestOf(const T* x, int64_t rows, int64_t columns) const {
    T best = largest(x, columns);
    for (int64_t h = 1; h < rows; ++h) {
      const T value = largest(x + h * plan_.width, columns);
      best = ((value <= best) | (best != best)) ? best : value;
    }
    return best;
  }
  static T largest(const T* x, int64_t count) {
    if (count >= 32) return cpu::maxOf(x, count);
    T best = x[0];
    for (int64_t i = 1; i < count; ++i) best = ((x[i] <= best) | (best != best)) ? best : x[i];
    return best;
  }

  MaxRoiPoolParamsT params_;
  RoiPlan plan_{};
};

}  // namespace

void addCpu(OpRegistry& registry) {
  registry.addCreator("cpu", "MaxRoiPool",
                      cpu::creatorOf<MaxRoiPoolCpu<float>>(cpu::supportsAll, DTypeSet(DType::Float32)));
  registry.addCreator("cpu", "MaxRoiPool",
                      cpu::creatorOf<MaxRoiPoolCpu<double>>(cpu::supportsAll, DTypeSet(DType::Float64)));
}

}  // namespace opkit::ops::max_roi_pool
