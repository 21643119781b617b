// Range on the CPU: each value from its own position, as the oracle computes it.
#include "engine/backend/cpu/cpu_kernel.h"
#include "ops/range/range.h"

namespace opkit::ops::range {
namespace {

class RangeCpu final : public cpu::CpuKernel {
 public:
  using CpuKernel::CpuKernel;

 protected:
  Status onRun(TensorList inputs, TensorList outputs) override {
    visitDType(outputs[0]->desc.dtype, [&](auto tag) {
      using T = decltype(tag);
      using Value = std::conditional_t<std::is_integral_v<T>, uint64_t, double>;  // integers wrap
      const auto start = static_cast<Value>(cpu::widened(inputs[0]->data<T>()[0]));
      const auto delta = static_cast<Value>(cpu::widened(inputs[2]->data<T>()[0]));
      T* y = outputs[0]->data<T>().data();
      cpu::parallelRanges(pool_, outputs[0]->desc.elements(), cpu::kGrainElements, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) y[i] = cpu::narrowed<T>(start + static_cast<Value>(i) * delta);
      });
    });
    return Status::ok();
  }
};

}  // namespace

void addCpu(OpRegistry& registry) {
  registry.addCreator("cpu", "Range", cpu::creatorOf<RangeCpu>(cpu::supportsAll, kAnyDType));
}

}  // namespace opkit::ops::range
