// Where on the CPU: elements are copied as words of their size, whatever their dtype.
#include "engine/backend/cpu/cpu_kernel.h"
#include "engine/backend/cpu/long_runs.h"
#include "engine/backend/cpu/row_kernel.h"
#include "ops/where/where_parts.h"

namespace opkit::ops::where {
namespace {

class WhereCpu final : public cpu::CpuKernel, public cpu::ElementwiseRows {
 public:
  using CpuKernel::CpuKernel;
  Status onResize(TensorList inputs, TensorList outputs) override {
    loops_ = loopsOver(outputs[0]->desc.shape, {inputs[0]->desc.shape, inputs[1]->desc.shape, inputs[2]->desc.shape});
    return Status::ok();
  }

 protected:
  Status onRun(TensorList inputs, TensorList outputs) override {
    switch (sizeOf(outputs[0]->desc.dtype)) {
      case 1: select<uint8_t>(inputs, *outputs[0]); break;
      case 2: select<uint16_t>(inputs, *outputs[0]); break;
      case 4: select<uint32_t>(inputs, *outputs[0]); break;
      default: select<uint64_t>(inputs, *outputs[0]); break;
    }
    return Status::ok();
  }

 private:
  template <class T>
  void select(TensorList inputs, const Tensor& output) {
    const std::array operands{cpu::Operand::of(*inputs[0]), cpu::Operand::of(*inputs[1]), cpu::Operand::of(*inputs[2])};
    T* z = output.data<T>().data();
    cpu::parallelRanges(pool_, output.desc.elements(), cpu::kGrainElements, [&](int64_t begin, int64_t end) {
      cpu::forEachLongRun<3>(loops_, operands, begin, end, [&](int64_t at, int64_t count, const auto& from) {
        selectRun(from[0].template as<uint8_t>(), from[1].template as<T>(), from[2].template as<T>(), z + at, count,
                  {from[0].stride, from[1].stride, from[2].stride});
      });
    });
  }

  /// Whole runs of a condition choose as masks: no branch depends on the data. A run may share one. Strides are 0
  /// or 1.
  template <class T>
  static void selectRun(const uint8_t* condition, const T* x, const T* y, T* z, int64_t count,
                        const std::array<int64_t, 3>& strides) {
    const auto masks = [&](auto xStride, auto yStride) {
      for (int64_t i = 0; i < count; ++i) {
        const T mask = static_cast<T>(-static_cast<T>(condition[i] != 0)), no = y[i * yStride()];
        z[i] = static_cast<T>(no ^ ((x[i * xStride()] ^ no) & mask));
      }
    };
    using Along = std::integral_constant<int64_t, 1>;
    using Fixed = std::integral_constant<int64_t, 0>;
    if (strides[0] == 0) return *condition != 0 ? copyRun(x, strides[1], z, count) : copyRun(y, strides[2], z, count);
    if (strides[1] != 0) return strides[2] != 0 ? masks(Along(), Along()) : masks(Along(), Fixed());
    return strides[2] != 0 ? masks(Fixed(), Along()) : masks(Fixed(), Fixed());
  }

  template <class T>
  static void copyRun(const T* from, int64_t stride, T* to, int64_t count) {
    if (stride != 0)
      std::copy_n(from, count, to);
    else
      std::fill_n(to, count, *from);
  }

  Loops loops_;
};

Status supports(const CreateArgs& args) {
  const size_t loops =
      loopsOver(args.outputs[0].shape, {args.input(0).shape, args.input(1).shape, args.input(2).shape}).size.size();
  if (loops <= cpu::kMaxLoops) return Status::ok();
  return Status::unsupported("Where: the CPU kernel broadcasts over up to {} merged axes, got {}", cpu::kMaxLoops,
                             loops);
}

}  // namespace

void addCpu(OpRegistry& registry) {
  registry.addCreator("cpu", "Where", cpu::creatorOf<WhereCpu>(supports, kAnyDType));
}

}  // namespace opkit::ops::where
