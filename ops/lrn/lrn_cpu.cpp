// LRN on the CPU, f32 and f64, in double: squares of the window are summed over a block of positions, then every
// position is divided by its power. The usual beta of 3/4 is two square roots. Long windows share their sums.
#include <cmath>

#include "engine/backend/cpu/cpu_kernel.h"
#include "engine/backend/cpu/cpu_scratch.h"
#include "ops/lrn/lrn.h"
#include "ops/lrn/lrn_vectors.h"

namespace opkit::ops::lrn {
namespace {

constexpr int64_t kColumns = 256;     // of one block
constexpr int64_t kLongWindow = 256;  // channels; from here on sums are shared

class LrnCpu final : public cpu::CpuKernel {
 public:
  LrnCpu(const CreateArgs& args, Backend& backend) : CpuKernel(args, backend), params_(args.params<LrnParams>()) {
    // Roots do not apply to values below zero.
    byRoots_ = params_.beta == 0.75f && params_.bias > 0 && params_.alpha >= 0;
  }

  Result<size_t> scratchBytes(TensorList inputs, TensorList) override {
    plan_ = planLrn(params_, inputs[0]->desc.shape);
    return isLong() ? cpu::scratchBytesOf(floatsPerThread() * static_cast<int64_t>(pool_.threadCount())) : size_t{0};
  }
  Status onResize(TensorList inputs, TensorList) override {
    plan_ = planLrn(params_, inputs[0]->desc.shape);
    return Status::ok();
  }

 protected:
  Status onRun(TensorList inputs, TensorList outputs) override {
    if (plan_.inner == 0) return Status::ok();
    cpu::visitWideFloat(inputs[0]->desc.dtype, [&](auto tag) {
      using T = decltype(tag);
      runAll(inputs[0]->data<T>().data(), outputs[0]->data<T>().data());
    });
    return Status::ok();
  }

 private:
  template <class T>
  void runAll(const T* x, T* y) {
    if (isLong()) return runLong(x, y);
    const int64_t blocks = (plan_.inner + kColumns - 1) / kColumns;
    const int64_t work = (std::min(params_.size, plan_.channels) + 8) * std::min(kColumns, plan_.inner);
    cpu::parallelRows(pool_, plan_.batch * plan_.channels * blocks, work, [&](int64_t index) {
      const int64_t row = index / blocks, column = index % blocks * kColumns;
      const int64_t at = row * plan_.inner + column;
      normaliseColumns(x + at, y + at, row % plan_.channels, std::min(kColumns, plan_.inner - column));
    });
  }
  /// Positions of one channel; the other channels of the window are `inner` apart.
  template <class T>
  void normaliseColumns(const T* x, T* y, int64_t channel, int64_t count) const {
    double sums[kColumns] = {};
    const int64_t first = -std::min(channel, plan_.before);
    const int64_t last = std::min(plan_.channels - 1 - channel, plan_.after);
    for (int64_t c = first; c <= last; ++c) {
      const T* from = x + c * plan_.inner;
      for (int64_t i = 0; i < count; ++i) sums[i] += squareOf(from[i]);
    }
    if constexpr (std::is_same_v<T, float>)
      normaliseVectors(x, sums, y, count, params_);
    else
      for (int64_t i = 0; i < count; ++i) y[i] = normalised(x[i], sums[i]);
  }

  static double squareOf(double value) { return value * value; }
  template <class T>
  T normalised(T x, double squares) const {
    const double scale = static_cast<double>(params_.alpha) / static_cast<double>(params_.size);
    const double base = static_cast<double>(params_.bias) + scale * squares, root = std::sqrt(base);
    return static_cast<T>(x / (byRoots_ ? root * std::sqrt(root) : std::pow(base, static_cast<double>(params_.beta))));
  }

  bool isLong() const { return std::min(params_.size, plan_.channels) >= kLongWindow; }
  /// Two doubles per channel.
  int64_t floatsPerThread() const { return cpu::scratchPart(4 * plan_.channels); }
  template <class T>
  void runLong(const T* x, T* y) {
    const auto position = [&](size_t index, size_t thread) {
      const auto i = static_cast<int64_t>(index);
      const int64_t at = i / plan_.inner * plan_.channels * plan_.inner + i % plan_.inner;
      normalisePosition(
          x + at, y + at,
          reinterpret_cast<double*>(cpu::scratchFloats(scratch(), floatsPerThread() * static_cast<int64_t>(thread))));
    };
    pool_.parallelFor(static_cast<size_t>(plan_.batch * plan_.inner), std::ref(position));
  }
  /// All channels of one position in three additions each, whatever the window. Channels are cut into blocks as long as
  /// it; a window is the end of one block and the beginning of the next (van Herk, 1992). Nothing is subtracted, so an
  /// infinity stays in its windows.
  template <class T>
  void normalisePosition(const T* x, T* y, double* work) const {
    const int64_t channels = plan_.channels, inner = plan_.inner, window = plan_.before + plan_.after + 1;
    double *upTo = work, *from = work + channels;  // to the channel from its block's begin; from it to the block's end
    for (int64_t c = 0; c < channels; ++c) upTo[c] = squareOf(x[c * inner]) + (c % window != 0 ? upTo[c - 1] : 0);
    for (int64_t c = channels - 1; c >= 0; --c)
      from[c] = squareOf(x[c * inner]) + (c + 1 < channels && (c + 1) % window != 0 ? from[c + 1] : 0);
    for (int64_t c = 0; c < channels; ++c) {
      const int64_t first = std::max<int64_t>(0, c - plan_.before), last = std::min(channels - 1, c + plan_.after);
      const bool inOneBlock = first / window == last / window;
      const double squares = !inOneBlock ? from[first] + upTo[last] : first % window == 0 ? upTo[last] : from[first];
      y[c * inner] = normalised(x[c * inner], squares);
    }
  }

  LrnParamsT params_;
  LrnPlan plan_{};
  bool byRoots_;
};

}  // namespace

void addCpu(OpRegistry& registry) {
  registry.addCreator("cpu", "LRN", cpu::creatorOf<LrnCpu>(cpu::supportsAll, cpu::kWideFloats));
}

}  // namespace opkit::ops::lrn
