// Pooling by runs: the base of the CPU kernels that join every tap in turn into a run of outputs along the innermost
// axis, so that the inner loop has no branch. One to three spatial axes.
#pragma once

#include <algorithm>
#include <vector>

#include "engine/backend/cpu/cpu_kernel.h"
#include "ops/pool/pool.h"

namespace opkit::ops::pool {

inline constexpr int64_t kMostWide = 512;  // outputs of one run

/// Pools rows of outputs: every tap in turn is joined into a run of outputs, so that the inner loop has no branch.
class ScalarPool : public cpu::CpuKernel {
 public:
  ScalarPool(const CreateArgs& args, Backend& backend) : CpuKernel(args, backend), params_(args.params<PoolParams>()) {}

  Status onResize(TensorList inputs, TensorList) override {
    OPKIT_ASSIGN(PoolPlan plan, planPool(params_, inputs[0]->desc.shape));
    planes_ = plan.planes;
    axes_ = padWindowRank(std::move(plan.axes), 3);
    return Status::ok();
  }

 protected:
  /// A run of outputs along the innermost axis.
  struct Run {
    int64_t plane, deep, high, first, count;
    int64_t output;  // index of the first
  };

  int64_t inputs() const { return axes_[0].input * axes_[1].input * axes_[2].input; }
  int64_t outputs() const { return axes_[0].output * axes_[1].output * axes_[2].output; }
  /// Calls body(run) for runs that cover all outputs, planes in parallel.
  template <class Body>
  void forEachRun(const Body& body) {
    const int64_t taps = axes_[0].kernel * axes_[1].kernel * axes_[2].kernel;
    cpu::parallelRows(pool_, planes_, outputs() * taps, [&](int64_t plane) {
      int64_t output = plane * outputs();
      for (int64_t d = 0; d < axes_[0].output; ++d)
        for (int64_t h = 0; h < axes_[1].output; ++h)
          for (int64_t w = 0; w < axes_[2].output; w += kMostWide) {
            const int64_t count = std::min(kMostWide, axes_[2].output - w);
            body(Run{plane, d, h, w, count, output});
            output += count;
          }
    });
  }
  /// Calls body(first output in the run, count, offset in the plane of its tap) for every tap; further outputs of the
  /// run read `stride` elements on.
  template <class Body>
  void forEachTap(const Run& run, const Body& body) const {
    const WindowAxis &deep = axes_[0], &high = axes_[1], &wide = axes_[2];
    const TapRange planes = deep.tapsInside(run.deep), rows = high.tapsInside(run.high);
    for (int64_t i = planes.begin; i < planes.end; ++i)
      for (int64_t j = rows.begin; j < rows.end; ++j)
        for (int64_t k = 0; k < wide.kernel; ++k) {
          const TapRange inside = wide.outputsInside(k);
          const int64_t begin = std::max(inside.begin, run.first), end = std::min(inside.end, run.first + run.count);
          if (begin >= end) continue;
          const int64_t row = deep.position(run.deep, i) * high.input + high.position(run.high, j);
          body(begin - run.first, end - begin, row * wide.input + wide.position(begin, k));
        }
  }

  PoolParamsT params_;
  int64_t planes_ = 0;
  std::vector<WindowAxis> axes_;
};

}  // namespace opkit::ops::pool
