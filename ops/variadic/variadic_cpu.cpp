// Sum and Mean on the CPU. A block of the output stays in cache while every operand is added to it.
#include "engine/backend/cpu/cpu_kernel.h"
#include "engine/backend/cpu/long_runs.h"
#include "engine/backend/cpu/row_kernel.h"
#include "engine/backend/cpu/vector_ops.h"
#include "engine/op/op_registry.h"
#include "ops/variadic/variadic.h"
#include "ops/variadic/variadic_wide.h"

namespace opkit::ops::variadic {
namespace {

constexpr int64_t kBlock = 1024;

/// The first operand gives the sums: 0 plus it would turn a -0 into 0.
template <class T>
void assign(const T* x, T* sums, int64_t count) {
  std::copy_n(x, count, sums);
}
void assign(const float* x, double* sums, int64_t count) { widen(x, sums, count); }
void add(const float* x, float* sums, int64_t count) { cpu::addTo(x, sums, count); }
void add(const float* x, double* sums, int64_t count) { addWidened(x, sums, count); }
void add(const double* x, double* sums, int64_t count) {
  for (int64_t i = 0; i < count; ++i) sums[i] += x[i];
}

/// y = sums / operands. For floats as a product, whose error of 2^-53 is less than the rounding to float hides.
void divide(const double* sums, double operands, float* y, int64_t count) {
  scaleToFloats(sums, 1 / operands, y, count);
}
void divide(const double* sums, double operands, double* y, int64_t count) {
  for (int64_t i = 0; i < count; ++i) y[i] = sums[i] / operands;
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
    divide(sums, static_cast<double>(inputs.size()), y + begin, end - begin);
  }
  template <class Sum>
  void addAll(TensorList inputs, Sum* sums, int64_t first, int64_t end) const {
    for (size_t k = 0; k < inputs.size(); ++k) {
      const std::array operands{cpu::Operand::of(*inputs[k])};
      cpu::forEachLongRun<1>(loops_[k], operands, first, end, [&](int64_t i, int64_t count, const auto& from) {
        const T* x = from[0].template as<T>();
        Sum* to = sums + (i - first);
        if (from[0].stride == 1) return k == 0 ? assign(x, to, count) : add(x, to, count);
        for (int64_t n = 0; n < count; ++n) {
          const auto value = static_cast<Sum>(x[n * from[0].stride]);
          to[n] = k == 0 ? value : to[n] + value;
        }
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
