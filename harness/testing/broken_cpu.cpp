#include <atomic>
#include <cmath>
#include <limits>

#include "engine/backend/backend.h"
#include "engine/backend/cpu/cpu_backend.h"
#include "engine/backend/cpu/cpu_scratch.h"
#include "harness/testing/broken_kernels.h"

namespace opkit::harness {
namespace {

class BrokenCpu final : public Execution {
 public:
  BrokenCpu(Break how, Backend& backend) : how_(how), backend_(backend) {
    if (how == Break::ReadsFreedConstant) packAndForget();
  }

  Status onResize(TensorList inputs, TensorList) override {
    count_ = static_cast<size_t>(inputs[0]->desc.elements());
    first_ = first_ == 0 ? count_ : first_;
    return Status::ok();
  }

  Status onExecute(TensorList inputs, TensorList outputs) override {
    if (how_ != Break::DispatchesNothing) ++backend_.counters().dispatches;
    const float* x = inputs[0]->data<float>().data();
    float* y = outputs[0]->data<float>().data();
    size_t count = count_;
    if (how_ == Break::DropsTailGuard) count = (count + 7) / 8 * 8;
    if (how_ == Break::KeepsStaleState) count = std::min(count, first_);
    for (size_t i = 0; i < count; ++i) {
      if (how_ == Break::LeavesOneUnwritten && i == count / 2) continue;
      y[i] = broken(x[i]);
    }
    if (ThreadPool& pool = cpu::threadPool(backend_); how_ == Break::TakesTasksInOrder && pool.splitsAll()) {
      std::atomic<size_t> next = 0;
      pool.parallelFor(count, [&](size_t i, size_t) { y[next++] = broken(x[i]); });
    }
    if (how_ == Break::WritesPastEnd && count > 0) y[count] = 1;
    if (how_ == Break::DiffersBetweenRuns && ++runs_ % 2 == 0)
      for (size_t i = 0; i < count; ++i) y[i] = std::nextafter(y[i], 9.0f);  // well within one rounding's bound
    return misbehave(x);
  }

 private:
  float broken(float x) const {
    const float y = std::max(x, 0.0f);
    switch (how_) {
      case Break::FlipsSign: return -y;
      case Break::ReturnsNan: return std::numeric_limits<float>::quiet_NaN();
      case Break::DropsNan: return x > 0 ? x : 0;
      case Break::OneUlpOff: return y == 0 ? y : std::nextafter(y, 0.0f);
      case Break::ReadsFreedConstant: return y * readUnchecked(factor_);
      default: return y;
    }
  }

  /// Leaves factor_ in a constant that nothing keeps.
  void packAndForget() {
    constexpr int64_t kFactors = 1024;
    const auto source = Tensor::onHost({DType::Float32, {kFactors}});
    const auto packed = cpu::packConstant(backend_, *source, "ones", kFactors,
                                          [](const Tensor&, float* to) { std::fill_n(to, kFactors, 1.0f); });
    factor_ = &(*packed)->data<float>()[kFactors / 2];
  }

  /// Faults other than wrong values.
  Status misbehave(const float* x) {
    if (how_ == Break::AllocatesInExecute) return backend_.allocate(64).error();
    if (how_ == Break::CreatesPipelineInExecute) ++backend_.counters().pipelinesCreated;
    if (how_ == Break::SubmitsTwice) backend_.counters().submits += 2;
    if (how_ == Break::AllocatesOnHeap) leftover_ = std::make_unique<float>(1.0f);
    if (how_ == Break::ReadsPastEnd) sink_ = readUnchecked(x + count_ + 16);
    return Status::ok();
  }

  /// The harness is to catch this, not a sanitizer.
  __attribute__((no_sanitize("address", "thread", "undefined"))) static float readUnchecked(
      const volatile float* address) {
    return *address;
  }

  Break how_;
  Backend& backend_;
  const float* factor_ = nullptr;
  size_t count_ = 0;
  size_t first_ = 0;
  size_t runs_ = 0;
  std::unique_ptr<float> leftover_;
  float sink_ = 0;
};

}  // namespace

void addBrokenCpu(OpRegistry& registry, Break how, const std::shared_ptr<Instances>& instances) {
  addBroken(registry, "cpu", how, instances, [](Break what, Backend& backend) {
    return std::unique_ptr<Execution>(std::make_unique<BrokenCpu>(what, backend));
  });
}

}  // namespace opkit::harness
