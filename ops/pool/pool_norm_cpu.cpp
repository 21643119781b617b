// LpPool on the CPU: powers of a run of windows are summed tap by tap in double. Sums that overflow or vanish are
// repeated, window by window, on elements divided by the largest.
#include <cmath>

#include "ops/pool/pool_norm_cpu.h"
#include "ops/pool/pool_runs.h"
#include "ops/pool/pool_taps_wide.h"

namespace opkit::ops::pool {
namespace {

constexpr double kSafePower = 4;  // of any f32, summed, a double holds
constexpr double kSmallest = 1e-250, kLargest = 1e290;

class NormPoolCpu final : public ScalarPool {
 public:
  using ScalarPool::ScalarPool;

 protected:
  Status onRun(TensorList inputs, TensorList outputs) override {
    cpu::visitWideFloat(inputs[0]->desc.dtype, [&](auto tag) {
      using T = decltype(tag);
      pool(inputs[0]->data<T>().data(), outputs[0]->data<T>().data());
    });
    return Status::ok();
  }

 private:
  template <class T>
  void pool(const T* x, T* y) {
    const bool isSafe = sizeof(T) == sizeof(float) && power() <= kSafePower && power() >= 1 / kSafePower;
    forEachRun([&](const Run& run) {
      double sums[kMostWide];
      std::fill_n(sums, run.count, 0.0);
      const T* plane = x + run.plane * inputs();
      forEachTap(run, [&](int64_t first, int64_t count, int64_t offset) {
        addTap(plane + offset, axes_[2].stride, sums + first, count);
      });
      for (int64_t o = 0; o < run.count; ++o) {
        const bool isRepeated = !isSafe && (sums[o] < kSmallest || sums[o] > kLargest);
        y[run.output + o] = static_cast<T>(isRepeated ? scaledNorm(plane, run, o) : rootOf(sums[o]));
      }
    });
  }
  template <class T>
  void addTap(const T* x, int64_t stride, double* sums, int64_t count) const {
    if (power() == 1) return sumMagnitudeTap(x, stride, sums, count);
    if (power() == 2) return sumSquareTap(x, stride, sums, count);
    for (int64_t o = 0; o < count; ++o) sums[o] += std::pow(std::fabs(static_cast<double>(x[o * stride])), power());
  }
  /// The norm of a window without NaN.
  template <class T>
  double scaledNorm(const T* plane, const Run& run, int64_t o) const {
    const Run one{run.plane, run.deep, run.high, run.first + o, 1, run.output + o};
    double largest = 0, sum = 0;
    forEachTap(one, [&](int64_t, int64_t, int64_t offset) {
      largest = std::max(largest, std::fabs(static_cast<double>(plane[offset])));
    });
    if (largest == 0 || std::isinf(largest)) return largest;
    forEachTap(one, [&](int64_t, int64_t, int64_t offset) {
      sum += std::pow(std::fabs(static_cast<double>(plane[offset])) / largest, power());
    });
    return largest * rootOf(sum);
  }
  double rootOf(double sum) const {
    if (power() == 1) return sum;
    return power() == 2 ? std::sqrt(sum) : std::pow(sum, 1 / power());
  }
  double power() const { return static_cast<double>(params_.p); }
};

}  // namespace

Creator normPool() { return cpu::creatorOf<NormPoolCpu>(cpu::supportsAll, DTypeSet(DType::Float32, DType::Float64)); }

}  // namespace opkit::ops::pool
