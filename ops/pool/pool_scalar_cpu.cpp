#include "ops/pool/pool_scalar_cpu.h"

#include <cmath>
#include <limits>

#include "engine/op/window_walk.h"
#include "ops/pool/pool_runs.h"
#include "ops/pool/pool_taps_wide.h"

namespace opkit::ops::pool {
namespace {

/// The types that the card of MaxPool allows, but for f16.
template <class T>
constexpr bool kIsPooled = std::is_floating_point_v<T> || sizeof(T) == 1;

class ScalarMaxPool final : public ScalarPool {
 public:
  using ScalarPool::ScalarPool;
  Status onResize(TensorList inputs, TensorList outputs) override {
    OPKIT_TRY(ScalarPool::onResize(inputs, outputs));
    places_.clear();
    if (outputs.size() > 1 && outputs[1] && isSmall()) planPlaces();
    return Status::ok();
  }

 protected:
  Status onRun(TensorList inputs, TensorList outputs) override {
    int64_t* indices = outputs.size() > 1 && outputs[1] ? outputs[1]->data<int64_t>().data() : nullptr;
    visitDType(inputs[0]->desc.dtype, [&](auto tag) {
      using T = decltype(tag);
      if constexpr (!std::is_same_v<T, Half>) pool(inputs[0]->data<T>().data(), outputs[0]->data<T>().data(), indices);
    });
    return Status::ok();
  }

 private:
  static constexpr int64_t kMostPlaces = 8192;  // of a small plane: they stay in the first-level cache

  int64_t taps() const { return axes_[0].kernel * axes_[1].kernel * axes_[2].kernel; }
  /// Rows of small planes are too short to be worth a call per tap.
  bool isSmall() const {
    return inputs() > 0 && outputs() > 0 && outputs() <= kMostWide && taps() <= kMostPlaces / outputs();
  }
  /// The place of each tap of each output in a plane; -1 in the padding.
  void planPlaces() {
    places_.assign(static_cast<size_t>(taps() * outputs()), -1);
    const WindowWalk walk{axes_};
    walk.forEachOutput(0, 1, [&](size_t output, int64_t, int64_t d, int64_t h, int64_t w) {
      size_t next = output;
      walk.forEachTap(d, h, w, [&](int64_t offset) {
        places_[next] = static_cast<int32_t>(offset);
        next += static_cast<size_t>(outputs());
      });
    });
  }

  template <class T>
  void pool(const T* x, T* y, int64_t* indices) {
    if (!places_.empty()) {
      const auto plane = [&](int64_t i) { poolSmall(x + i * inputs(), i, y + i * outputs(), indices + i * outputs()); };
      return cpu::parallelRows(pool_, planes_, taps() * outputs(), plane);
    }
    forEachRun([&](const Run& run) {
      if (indices) return poolWithIndices(x + run.plane * inputs(), run, y + run.output, indices + run.output);
      std::fill_n(y + run.output, run.count, start<T>());
      forEachTap(run, [&](int64_t first, int64_t count, int64_t offset) {
        if constexpr (kIsPooled<T>)
          largestTap(x + run.plane * inputs() + offset, axes_[2].stride, y + run.output + first, count);
      });
    });
  }
  template <class T>
  void poolSmall(const T* x, int64_t plane, T* y, int64_t* indices) const {
    int32_t at[kMostWide];
    const int64_t count = outputs();
    std::fill_n(at, count, -1);
    std::fill_n(y, count, start<T>());
    if constexpr (kIsPooled<T>) indexedTaps(x, places_.data(), taps(), y, at, count);
    storeIndices(at, plane, indices, count);
  }
  /// The first of equal taps stays, and the first NaN.
  template <class T>
  void poolWithIndices(const T* plane, const Run& run, T* y, int64_t* indices) const {
    int32_t at[kMostWide];
    std::fill_n(at, run.count, -1);
    std::fill_n(y, run.count, start<T>());
    forEachTap(run, [&](int64_t first, int64_t count, int64_t offset) {
      if constexpr (kIsPooled<T>)
        indexedTap(plane + offset, static_cast<int32_t>(offset), axes_[2].stride, y + first, at + first, count);
    });
    storeIndices(at, run.plane, indices, run.count);
  }
  void storeIndices(const int32_t* at, int64_t plane, int64_t* indices, int64_t count) const {
    for (int64_t o = 0; o < count; ++o)
      indices[o] = at[o] < 0 ? 0 : plane * inputs() + (params_.column_major ? columnMajor(at[o]) : at[o]);
  }
  template <class T>
  static T start() {
    return std::is_floating_point_v<T> ? -std::numeric_limits<T>::infinity() : std::numeric_limits<T>::lowest();
  }
  /// The offset in a plane that is stored with its first axis innermost.
  int64_t columnMajor(int64_t offset) const {
    const int64_t wide = axes_[2].input, high = axes_[1].input, deep = axes_[0].input;
    return (offset % wide * high + offset / wide % high) * deep + offset / (wide * high);
  }

  std::vector<int32_t> places_;  // [taps, outputs of a plane] of small planes
};

class ScalarAveragePool final : public ScalarPool {
 public:
  using ScalarPool::ScalarPool;
  Status onResize(TensorList inputs, TensorList outputs) override {
    OPKIT_TRY(ScalarPool::onResize(inputs, outputs));
    columnTaps_.clear();
    for (int64_t o = 0; o < axes_[2].output; ++o) columnTaps_.push_back(static_cast<double>(tapsOf(axes_[2], o)));
    return Status::ok();
  }

 protected:
  Status onRun(TensorList inputs, TensorList outputs) override {
    pool(inputs[0]->data<double>().data(), outputs[0]->data<double>().data());
    return Status::ok();
  }

 private:
  void pool(const double* x, double* y) {
    forEachRun([&](const Run& run) {
      double sums[kMostWide];
      std::fill_n(sums, run.count, 0.0);
      const double* plane = x + run.plane * inputs();
      forEachTap(run, [&](int64_t first, int64_t count, int64_t offset) {
        sumTap(plane + offset, axes_[2].stride, sums + first, count);
      });
      const auto taps = static_cast<double>(tapsOf(axes_[0], run.deep) * tapsOf(axes_[1], run.high));
      const double* columns = columnTaps_.data() + run.first;
      for (int64_t o = 0; o < run.count; ++o) y[run.output + o] = sums[o] / std::max(taps * columns[o], 1.0);
    });
  }
  /// The taps that count for the divisor, along one axis.
  int64_t tapsOf(const WindowAxis& axis, int64_t o) const {
    return params_.count_include_pad ? axis.tapsPadded(o).count() : axis.tapsInside(o).count();
  }

  std::vector<double> columnTaps_;  // taps that count for the divisor, per output column
};

}  // namespace

Creator scalarMaxPool() {
  constexpr DTypeSet kTypes{DType::Float32, DType::Float64, DType::Int8, DType::UInt8};
  const auto supports = [](const CreateArgs& args) -> Status {
    constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
    const Shape& x = args.input(0).shape;
    if (elementCount(x, 2, x.size()) <= kMost) return Status::ok();
    return Status::unsupported("MaxPool: the CPU kernel takes planes of up to {} elements, got {}", kMost, toString(x));
  };
  return cpu::creatorOf<ScalarMaxPool>(supports, kTypes, "scalar");
}

Creator scalarAveragePool() {
  return cpu::creatorOf<ScalarAveragePool>(cpu::supportsAll, DTypeSet(DType::Float64), "scalar");
}

}  // namespace opkit::ops::pool
