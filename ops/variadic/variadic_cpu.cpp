// Sum and Mean on the CPU. A block of the output stays in cache while every operand is added to it.
#include <bit>

#include "engine/backend/cpu/cpu_kernel.h"
#include "engine/backend/cpu/long_runs.h"
#include "engine/backend/cpu/row_kernel.h"
#include "engine/backend/cpu/vector_ops.h"
#include "engine/op/op_registry.h"
#include "ops/variadic/variadic.h"

namespace opkit::ops::variadic {
namespace {

constexpr int64_t kBlock = 1024;

void add(const float* x, float* y, int64_t count) { cpu::addTo(x, y, count); }
template <class T>
void add(const T* x, double* y, int64_t count) {
  for (int64_t i = 0; i < count; ++i) y[i] += static_cast<double>(x[i]);
}

template <class T>
class VariadicCpu final : public cpu::CpuKernel, public cpu::ElementwiseRows {
 public:
  VariadicCpu(const CreateArgs& args, Backend& backend)
      : CpuKernel(args, backend), isMean_(args.def.type == "Mean"), loops_(args.inputs.size()) {}

  Status onResize(TensorList inputs, TensorList outputs) override {
    for (size_t k = 0; k < inputs.size(); ++k) loops_[k] = loopsOver(outputs[0]->desc.shape, {inputs[k]->desc.shape});
    return Status::ok();
  }

 protected:
  Status onRun(TensorList inputs, TensorList outputs) override {
    T* y = outputs[0]->data<T>().data();
    const int64_t grain = cpu::kGrainElements / static_cast<int64_t>(inputs.size());
    cpu::parallelRanges(pool_, outputs[0]->desc.elements(), grain, [&](int64_t begin, int64_t end) {
      for (int64_t block = begin; block < end; block += kBlock)
        sumBlock(inputs, y, block, std::min(block + kBlock, end));
    });
    return Status::ok();
  }

 private:
  void sumBlock(TensorList inputs, T* y, int64_t begin, int64_t end) const {
    if (!isMean_) return addAll(inputs, y + begin, begin, end);
    // In double, where no sum of floats overflows.
    double sums[kBlock];
    addAll(inputs, sums, begin, end);
    const auto operands = static_cast<double>(inputs.size());
    if (std::has_single_bit(inputs.size()))  // a product is exact then, and faster
      for (int64_t i = begin; i < end; ++i) y[i] = static_cast<T>(sums[i - begin] * (1 / operands));
    else
      for (int64_t i = begin; i < end; ++i) y[i] = static_cast<T>(sums[i - begin] / operands);
  }
  template <class Sum>
  void addAll(TensorList inputs, Sum* sums, int64_t begin, int64_t end) const {
    // -0 is the neutral element of addition: 0 would turn a sum of -0 into 0.
    std::fill_n(sums, end - begin, static_cast<Sum>(-0.0));
    for (size_t k = 0; k < inputs.size(); ++k) {
      const std::array operands{cpu::Operand::of(*inputs[k])};
      cpu::forEachLongRun<1>(loops_[k], operands, begin, end, [&](int64_t i, int64_t count, const auto& from) {
        const T* x = from[0].template as<T>();
        Sum* to = sums + (i - begin);
        if (from[0].stride == 1) return add(x, to, count);
        for (int64_t n = 0; n < count; ++n) to[n] += static_cast<Sum>(x[n * from[0].stride]);
      });
    }
  }

  bool isMean_;
  std::vector<Loops> loops_;  // over the output, of each operand
};

Status supports(const CreateArgs& args) {
  for (size_t k = 0; k < args.inputs.size(); ++k) {
    const size_t loops = loopsOver(args.outputs[0].shape, {args.input(k).shape}).size.size();
    if (loops > cpu::kMaxLoops)
      return Status::unsupported("{}: the CPU kernel broadcasts over up to {} merged axes, got {}", args.def.type,
                                 cpu::kMaxLoops, loops);
  }
  return Status::ok();
}

}  // namespace

void addCpu(OpRegistry& registry) {
  for (const char* type : {"Sum", "Mean"}) {
    registry.addCreator("cpu", type, cpu::creatorOf<VariadicCpu<float>>(supports, DTypeSet(DType::Float32)));
    registry.addCreator("cpu", type, cpu::creatorOf<VariadicCpu<double>>(supports, DTypeSet(DType::Float64)));
  }
}

}  // namespace opkit::ops::variadic
