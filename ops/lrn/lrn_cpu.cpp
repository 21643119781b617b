// LRN on the CPU, f32, in double: squares of the window are summed over a block of positions, then every position is
// divided by its power. The usual beta of 3/4 is two square roots.
#include <cmath>

#include "engine/backend/cpu/cpu_kernel.h"
#include "ops/lrn/lrn.h"

namespace opkit::ops::lrn {
namespace {

constexpr int64_t kColumns = 256;  // of one block

class LrnCpu final : public cpu::CpuKernel {
 public:
  LrnCpu(const CreateArgs& args, Backend& backend) : CpuKernel(args, backend), params_(args.params<LrnParams>()) {
    // What is below zero has another power than roots.
    byRoots_ = params_.beta == 0.75f && params_.bias > 0 && params_.alpha >= 0;
  }

  Status onResize(TensorList inputs, TensorList) override {
    plan_ = planLrn(params_, inputs[0]->desc.shape);
    return Status::ok();
  }

 protected:
  Status onRun(TensorList inputs, TensorList outputs) override {
    const float* x = floatsOf(*inputs[0]);
    float* y = floatsOf(*outputs[0]);
    if (plan_.inner == 0) return Status::ok();
    const int64_t blocks = (plan_.inner + kColumns - 1) / kColumns;
    const int64_t work = (std::min(params_.size, plan_.channels) + 8) * std::min(kColumns, plan_.inner);
    cpu::parallelRows(pool_, plan_.batch * plan_.channels * blocks, work, [&](int64_t index) {
      const int64_t row = index / blocks, column = index % blocks * kColumns;
      const int64_t at = row * plan_.inner + column;
      normaliseColumns(x + at, y + at, row % plan_.channels, std::min(kColumns, plan_.inner - column));
    });
    return Status::ok();
  }

 private:
  /// Positions of one channel; the others of the window lie `inner` apart from it.
  void normaliseColumns(const float* x, float* y, int64_t channel, int64_t count) const {
    double sums[kColumns] = {};
    const int64_t first = -std::min(channel, plan_.before);
    const int64_t last = std::min(plan_.channels - 1 - channel, plan_.after);
    for (int64_t c = first; c <= last; ++c) {
      const float* from = x + c * plan_.inner;
      for (int64_t i = 0; i < count; ++i) sums[i] += static_cast<double>(from[i]) * static_cast<double>(from[i]);
    }
    const double scale = static_cast<double>(params_.alpha) / static_cast<double>(params_.size);
    const auto bias = static_cast<double>(params_.bias), beta = static_cast<double>(params_.beta);
    for (int64_t i = 0; i < count; ++i) {
      const double base = bias + scale * sums[i], root = std::sqrt(base);
      y[i] = static_cast<float>(x[i] / (byRoots_ ? root * std::sqrt(root) : std::pow(base, beta)));
    }
  }

  LrnParamsT params_;
  LrnPlan plan_{};
  bool byRoots_;
};

}  // namespace

void addCpu(OpRegistry& registry) { registry.addCreator("cpu", "LRN", cpu::floatKernel<LrnCpu>()); }

}  // namespace opkit::ops::lrn
