#include "ops/reduce/reduce_scalar_cpu.h"

#include <cmath>
#include <limits>

#include "engine/backend/cpu/cpu_kernel.h"
#include "ops/reduce/reduce_views.h"

namespace opkit::ops::reduce {
namespace {

/// One output while its elements pass by. Floats add in double; integers wrap in 64 bits.
template <class T>
class Running {
 public:
  using Sum = std::conditional_t<std::is_floating_point_v<T>, double, uint64_t>;

  explicit Running(Kind kind) : kind_(kind), sum_(kind == Kind::Prod ? Sum(1) : Sum(0)) {}

  void take(T x) {
    ++count_;
    const auto term = static_cast<Sum>(x);
    switch (kind_) {
      case Kind::Prod: sum_ *= term; return;
      case Kind::SumSquare: sum_ += term * term; return;
      case Kind::L1: sum_ += x < 0 ? Sum(0) - term : term; return;
      case Kind::L2: root_ += static_cast<double>(x) * static_cast<double>(x); return;
      case Kind::LogSum: root_ += static_cast<double>(x); return;
      case Kind::LogSumExp: takeExponent(static_cast<double>(x)); return;
      case Kind::Max: best_ = count_ == 1 || x > best_ || x != x ? x : best_; return;
      case Kind::Min: best_ = count_ == 1 || x < best_ || x != x ? x : best_; return;
      default: sum_ += term;
    }
  }
  /// A NaN stays the best: nothing compares with it.
  T result() const {
    switch (kind_) {
      case Kind::Max:
      case Kind::Min: return count_ > 0 ? best_ : emptyBest();
      case Kind::L2: return rounded(std::sqrt(root_));
      case Kind::LogSum: return rounded(std::log(root_));
      case Kind::LogSumExp:
        return rounded(count_ == 0 ? -INFINITY : std::isinf(largest_) ? largest_ : largest_ + std::log(root_));
      case Kind::Mean: return mean();
      default: return static_cast<T>(sum_);
    }
  }

 private:
  /// The sum of e^(x - largest so far).
  void takeExponent(double x) {
    if (count_ == 1 || x > largest_ || x != x) {
      root_ = count_ == 1 ? 0 : root_ * std::exp(largest_ - x);
      largest_ = x;
    }
    root_ += x == largest_ ? 1 : std::exp(x - largest_);
  }
  T mean() const {
    if constexpr (std::is_floating_point_v<T>)
      return static_cast<T>(sum_ / static_cast<double>(count_));
    else if constexpr (std::is_same_v<T, uint64_t>)
      return count_ == 0 ? 0 : sum_ / static_cast<uint64_t>(count_);
    else
      return count_ == 0 ? T(0) : static_cast<T>(static_cast<int64_t>(sum_) / count_);
  }
  T emptyBest() const {
    if constexpr (!std::is_floating_point_v<T>) return 0;
    return static_cast<T>(kind_ == Kind::Max ? -INFINITY : INFINITY);
  }
  /// Integers are truncated; a logarithm that is no number is 0.
  static T rounded(double value) {
    if constexpr (std::is_floating_point_v<T>) return static_cast<T>(value);
    return std::isfinite(value) ? static_cast<T>(static_cast<int64_t>(value)) : T(0);
  }

  Kind kind_;
  Sum sum_;
  T best_{};
  double root_ = 0, largest_ = 0;
  int64_t count_ = 0;
};

class ScalarReduce final : public cpu::CpuKernel {
 public:
  ScalarReduce(Kind kind, const CreateArgs& args, Backend& backend)
      : CpuKernel(args, backend), kind_(kind), views_(args) {}
  bool readsInput(size_t index) const override { return index == 0 || views_.readsAxes(); }

  Status onResize(TensorList inputs, TensorList outputs) override {
    views_.plan(inputs[0]->desc.shape, outputs[0]->desc.shape);
    return Status::ok();
  }

 protected:
  Status onRun(TensorList inputs, TensorList outputs) override {
    OPKIT_ASSIGN(view_, views_.of(inputs));
    visitDType(inputs[0]->desc.dtype, [&](auto tag) {
      using T = decltype(tag);
      if constexpr (!std::is_same_v<T, Half>) foldAll(inputs[0]->data<T>().data(), outputs[0]->data<T>().data());
    });
    return Status::ok();
  }

 private:
  template <class T>
  void foldAll(const T* x, T* y) const {
    const int64_t work = elementCount(view_->reduced.size);
    cpu::parallelRows(pool_, elementCount(view_->kept.size), work, [&](int64_t row) {
      Running<T> running(kind_);
      walk(x + offsetOf(view_->kept, view_->kept.size.size(), row), 0, running);
      y[row] = running.result();
    });
  }
  /// The elements of the axes from `depth` on.
  template <class T>
  void walk(const T* x, size_t depth, Running<T>& running) const {
    const Loops& loops = view_->reduced;
    if (depth == loops.size.size()) return running.take(*x);
    const int64_t stride = loops.strides[0][depth], extent = loops.size[depth];
    if (depth + 1 == loops.size.size()) {
      for (int64_t i = 0; i < extent; ++i) running.take(x[i * stride]);
      return;
    }
    for (int64_t i = 0; i < extent; ++i) walk(x + i * stride, depth + 1, running);
  }

  Kind kind_;
  ReduceViews views_;
  const View* view_ = nullptr;  // of this run
};

}  // namespace

Creator scalarCreator(Kind kind, DTypeSet dtypes, std::function<Status(const CreateArgs&)> supports) {
  return {.provider = "opkit",
          .supports = std::move(supports),
          .create = [kind](const CreateArgs& args, Backend& backend) -> Result<std::unique_ptr<Execution>> {
            return std::unique_ptr<Execution>(std::make_unique<ScalarReduce>(kind, args, backend));
          },
          .dtypes = dtypes,
          .kernel = "scalar"};
}

}  // namespace opkit::ops::reduce
