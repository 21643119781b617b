#include "ops/pool/pool_scalar_cpu.h"

#include <cmath>
#include <limits>

#include "engine/backend/cpu/cpu_kernel.h"
#include "ops/pool/pool.h"

namespace opkit::ops::pool {
namespace {

/// The taps of one output along one axis that lie on the input: positions first, first + step, ..., and how many.
/// `padded` also counts those in the declared padding.
struct Span {
  int64_t first = 0, count = 0, padded = 0;
};

Span spanOf(const WindowAxis& axis, int64_t output) {
  const int64_t start = output * axis.stride - axis.padBegin;
  Span span;
  for (int64_t k = 0; k < axis.kernel; ++k) {
    const int64_t at = start + k * axis.dilation;
    if (at < axis.input + axis.padEnd) ++span.padded;
    if (at < 0 || at >= axis.input) continue;
    if (span.count++ == 0) span.first = at;
  }
  return span;
}

class ScalarPool : public cpu::CpuKernel {
 public:
  ScalarPool(const CreateArgs& args, Backend& backend) : CpuKernel(args, backend), params_(args.params<PoolParams>()) {}

  Status onResize(TensorList inputs, TensorList) override {
    OPKIT_ASSIGN(PoolPlan plan, planPool(params_, inputs[0]->desc.shape));
    planes_ = plan.planes;
    axes_ = padWindowRank(std::move(plan.axes), 3);
    for (size_t a = 0; a < 3; ++a) {
      spans_[a].clear();
      for (int64_t o = 0; o < axes_[a].output; ++o) spans_[a].push_back(spanOf(axes_[a], o));
    }
    return Status::ok();
  }

 protected:
  int64_t inputs() const { return axes_[0].input * axes_[1].input * axes_[2].input; }
  /// Calls body(first element of the plane, output, {deep, high, wide}) for every output, planes in parallel.
  template <class Body>
  void forEachWindow(const Body& body) {
    const int64_t outputs = axes_[0].output * axes_[1].output * axes_[2].output;
    const int64_t taps = axes_[0].kernel * axes_[1].kernel * axes_[2].kernel;
    cpu::parallelRows(pool_, planes_, outputs * taps, [&](int64_t plane) {
      int64_t output = plane * outputs;
      for (const Span& deep : spans_[0])
        for (const Span& high : spans_[1])
          for (const Span& wide : spans_[2]) body(plane * inputs(), output++, deep, high, wide);
    });
  }
  /// Calls body(offset in the plane) for every tap on the input.
  template <class Body>
  void forEachTap(const Span& deep, const Span& high, const Span& wide, const Body& body) const {
    for (int64_t i = 0, d = deep.first; i < deep.count; ++i, d += axes_[0].dilation)
      for (int64_t j = 0, h = high.first; j < high.count; ++j, h += axes_[1].dilation)
        for (int64_t k = 0, w = wide.first; k < wide.count; ++k, w += axes_[2].dilation)
          body((d * axes_[1].input + h) * axes_[2].input + w);
  }

  PoolParamsT params_;
  int64_t planes_ = 0;
  std::vector<WindowAxis> axes_;
  std::array<std::vector<Span>, 3> spans_;  // per axis and output position
};

class ScalarMaxPool final : public ScalarPool {
 public:
  using ScalarPool::ScalarPool;

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
  template <class T>
  void pool(const T* x, T* y, int64_t* indices) {
    constexpr bool kFloat = std::is_floating_point_v<T>;
    forEachWindow([&](int64_t plane, int64_t output, const Span& deep, const Span& high, const Span& wide) {
      T best = kFloat ? -std::numeric_limits<T>::infinity() : std::numeric_limits<T>::lowest();
      int64_t at = -1;
      forEachTap(deep, high, wide, [&](int64_t offset) {
        const T value = x[plane + offset];
        const bool isFirstNan = value != value && best == best;
        if (at >= 0 && !isFirstNan && !(value > best)) return;
        best = value;
        at = offset;
      });
      y[output] = best;
      if (indices) indices[output] = at < 0 ? 0 : plane + (params_.column_major ? columnMajor(at) : at);
    });
  }
  /// The offset in a plane that is stored with its first axis innermost.
  int64_t columnMajor(int64_t offset) const {
    const int64_t wide = axes_[2].input, high = axes_[1].input, deep = axes_[0].input;
    return (offset % wide * high + offset / wide % high) * deep + offset / (wide * high);
  }
};

class ScalarAveragePool final : public ScalarPool {
 public:
  using ScalarPool::ScalarPool;

 protected:
  Status onRun(TensorList inputs, TensorList outputs) override {
    if (inputs[0]->desc.dtype == DType::Float64)
      pool(inputs[0]->data<double>().data(), outputs[0]->data<double>().data());
    else
      pool(inputs[0]->data<float>().data(), outputs[0]->data<float>().data());
    return Status::ok();
  }

 private:
  template <class T>
  void pool(const T* x, T* y) {
    const bool padded = params_.count_include_pad;
    forEachWindow([&](int64_t plane, int64_t output, const Span& deep, const Span& high, const Span& wide) {
      double sum = 0;
      forEachTap(deep, high, wide, [&](int64_t offset) { sum += static_cast<double>(x[plane + offset]); });
      const int64_t taps = padded ? deep.padded * high.padded * wide.padded : deep.count * high.count * wide.count;
      y[output] = static_cast<T>(sum / static_cast<double>(std::max<int64_t>(taps, 1)));
    });
  }
};

}  // namespace

Creator scalarMaxPool() {
  constexpr DTypeSet kTypes{DType::Float32, DType::Float64, DType::Int8, DType::UInt8};
  return cpu::creatorOf<ScalarMaxPool>(cpu::supportsAll, kTypes, "scalar");
}

Creator scalarAveragePool() {
  return cpu::creatorOf<ScalarAveragePool>(cpu::supportsAll, DTypeSet(DType::Float32, DType::Float64), "scalar");
}

}  // namespace opkit::ops::pool
