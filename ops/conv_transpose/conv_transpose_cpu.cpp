// Fold on the CPU: a task owns a row of the image and adds to it, tap by tap, the rows of columns that meet it.
#include <algorithm>

#include "engine/backend/cpu/cpu_kernel.h"
#include "ops/conv_transpose/conv_transpose.h"
#include "ops/conv_transpose/conv_transpose_parts.h"

namespace opkit::ops::conv_transpose {
namespace {

/// Calls body(tap, position) for the blocks along an axis that have a tap at `at` of the image.
template <class Body>
void forEachMeeting(const FoldAxis& axis, int64_t at, const Body& body) {
  int64_t first = at + axis.pad;  // of the tap's block, times the stride
  for (int64_t tap = 0; tap < axis.kernel && first >= 0; ++tap, first -= axis.dilation)
    if (first % axis.stride == 0 && first / axis.stride < axis.positions) body(tap, first / axis.stride);
}

/// y[i * stride] += x[i]; integers wrap.
template <class T>
void addRun(const T* __restrict x, T* __restrict y, int64_t stride, int64_t count) {
  const auto add = [&](int64_t i, int64_t to) {
    if constexpr (std::is_integral_v<T>)
      y[to] = static_cast<T>(static_cast<std::make_unsigned_t<T>>(y[to]) + static_cast<std::make_unsigned_t<T>>(x[i]));
    else
      y[to] += x[i];
  };
  if (stride == 1)
    for (int64_t i = 0; i < count; ++i) add(i, i);
  else if (stride == 2)
    for (int64_t i = 0; i < count; ++i) add(i, 2 * i);
  else
    for (int64_t i = 0; i < count; ++i) add(i, i * stride);
}

class FoldCpu final : public cpu::CpuKernel {
 public:
  FoldCpu(const CreateArgs& args, Backend& backend)
      : CpuKernel(args, backend), axes_(foldAxes(args.params<FoldParams>())) {}

 protected:
  Status onRun(TensorList inputs, TensorList outputs) override {
    const Tensor& y = *outputs[0];
    if (y.desc.elements() == 0) return Status::ok();
    visitDType(y.desc.dtype, [&](auto tag) {
      using T = decltype(tag);
      if constexpr (std::is_same_v<T, Half>)
        return;
      else
        fold(inputs[0]->data<T>().data(), has(inputs, 1) ? inputs[1]->data<T>().data() : nullptr, y);
    });
    return Status::ok();
  }

 private:
  template <class T>
  void fold(const T* columns, const T* bias, const Tensor& y) const {
    const int64_t width = axes_[2].image, rows = axes_[0].image * axes_[1].image;
    const int64_t work = width * std::max<int64_t>(axes_[2].kernel / axes_[2].stride, 1);
    cpu::parallelRows(pool_, y.desc.elements() / width, work, [&](int64_t row) {
      const int64_t plane = row / rows;
      T* to = y.data<T>().data() + row * width;
      std::fill_n(to, width, bias ? bias[plane % y.desc.shape[1]] : T{});
      forEachMeeting(axes_[0], row % rows / axes_[1].image, [&](int64_t k0, int64_t l0) {
        forEachMeeting(axes_[1], row % axes_[1].image, [&](int64_t k1, int64_t l1) {
          const int64_t tap = ((plane * axes_[0].kernel + k0) * axes_[1].kernel + k1) * axes_[2].kernel;
          const int64_t line = l0 * axes_[1].positions + l1;
          addLine(columns, tap, line, to);
        });
      });
    });
  }

  /// The taps of a line of blocks, from number `tap` on.
  template <class T>
  void addLine(const T* columns, int64_t tap, int64_t line, T* to) const {
    const FoldAxis& axis = axes_[2];
    const int64_t lines = axes_[0].positions * axes_[1].positions;
    for (int64_t k = 0; k < axis.kernel; ++k) {
      const int64_t at = k * axis.dilation - axis.pad;  // of the block at position 0
      const int64_t begin = at >= 0 ? 0 : (-at + axis.stride - 1) / axis.stride;
      const int64_t end = std::min(axis.positions, at >= axis.image ? 0 : (axis.image - 1 - at) / axis.stride + 1);
      if (begin >= end) continue;
      const T* from = columns + ((tap + k) * lines + line) * axis.positions + begin;
      addRun(from, to + at + begin * axis.stride, axis.stride, end - begin);
    }
  }

  std::vector<FoldAxis> axes_;
};

}  // namespace

void addCpu(OpRegistry& registry) {
  registry.addCreator("cpu", "Fold", cpu::creatorOf<FoldCpu>(cpu::supportsAll, cpu::kWideFloats | kIntegers));
}

}  // namespace opkit::ops::conv_transpose
