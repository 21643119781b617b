// Where on the CPU: elements are copied as words of their size, whatever their dtype.
#include "engine/backend/cpu/cpu_kernel.h"
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
    const uint8_t* condition = inputs[0]->data<uint8_t>().data();
    const T *x = inputs[1]->data<T>().data(), *y = inputs[2]->data<T>().data();
    T* z = output.data<T>().data();
    cpu::parallelRanges(pool_, output.desc.elements(), cpu::kGrainElements, [&](int64_t begin, int64_t end) {
      cpu::forEachRun<3>(loops_, begin, end, [&](int64_t at, const auto& from, int64_t count, const auto& strides) {
        selectRun(condition + from[0], x + from[1], y + from[2], z + at, count, strides);
      });
    });
  }

  /// Whole runs of a condition choose as masks: no branch depends on the data.
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
    if (strides == std::array<int64_t, 3>{1, 1, 1}) return masks(Along(), Along());
    if (strides == std::array<int64_t, 3>{1, 1, 0}) return masks(Along(), Fixed());
    if (strides == std::array<int64_t, 3>{1, 0, 1}) return masks(Fixed(), Along());
    for (int64_t i = 0; i < count; ++i) z[i] = condition[i * strides[0]] != 0 ? x[i * strides[1]] : y[i * strides[2]];
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
