// Per block of output positions, the taps of all channels are gathered into a matrix [depth, positions] (im2col), which
// the weights [outputs, depth] multiply. Each thread gathers and multiplies blocks of its own.
#include "ops/conv/conv_columns.h"

#include <cmath>

#include "engine/backend/cpu/cpu_kernel.h"
#include "engine/backend/cpu/cpu_scratch.h"
#include "engine/backend/cpu/vector_ops.h"
#include "ops/conv/conv.h"

namespace opkit::ops::conv {
namespace {

constexpr int64_t kBlockBytes = 1 << 17;  // of one gathered matrix: it stays in the second-level cache
constexpr int64_t kMostPositions = 512;
constexpr int64_t kLeastPositions = 16;

class ColumnsCpu final : public cpu::CpuKernel {
 public:
  ColumnsCpu(const CreateArgs& args, Backend& backend) : CpuKernel(args, backend), params_(args.params<ConvParams>()) {}

  Result<size_t> scratchBytes(TensorList inputs, TensorList) override {
    OPKIT_TRY(plan(inputs));
    return matrixBytes_ * pool_.threadCount();
  }
  Status onResize(TensorList inputs, TensorList) override { return plan(inputs); }

 protected:
  Status onRun(TensorList inputs, TensorList outputs) override {
    if (outputs[0]->desc.elements() == 0) return Status::ok();
    runBlocks<double>(inputs, outputs);
    return Status::ok();
  }

 private:
  Status plan(TensorList inputs) {
    const Shape* bias = has(inputs, 2) ? &inputs[2]->desc.shape : nullptr;
    OPKIT_ASSIGN(plan_, planConv(params_, inputs[0]->desc.shape, inputs[1]->desc.shape, bias));
    plan_.axes = padWindowRank(std::move(plan_.axes), 3);
    depth_ = plan_.groupInputs * plan_.kernelTaps();
    const auto elementBytes = static_cast<int64_t>(sizeOf(inputs[0]->desc.dtype));
    const int64_t fitting = kBlockBytes / (std::max<int64_t>(depth_, 1) * elementBytes) / 16 * 16;
    positions_ = std::min(std::clamp(fitting, kLeastPositions, kMostPositions), plan_.outputPositions());
    matrixBytes_ = cpu::scratchBytesOf(cpu::scratchPart(depth_ * positions_ * elementBytes / 4));
    return Status::ok();
  }

  template <class T>
  void runBlocks(TensorList inputs, TensorList outputs) {
    const int64_t blocks = (plan_.outputPositions() + positions_ - 1) / positions_;
    const auto block = [&](size_t index, size_t thread) {
      const auto image = static_cast<int64_t>(index) / blocks,
                 first = static_cast<int64_t>(index) % blocks * positions_;
      auto* matrix = reinterpret_cast<T*>(cpu::scratchFloats(scratch()) + thread * matrixBytes_ / sizeof(float));
      const int64_t count = std::min(positions_, plan_.outputPositions() - first);
      gatherBlock(inputs[0]->data<T>().data() + image * plan_.groupInputs * plan_.inputPositions(), first, count,
                  matrix);
      multiplyBlock(inputs, image % plan_.groups, matrix, count,
                    outputs[0]->data<T>().data() + image * plan_.groupOutputs * plan_.outputPositions() + first);
    };
    pool_.parallelFor(static_cast<size_t>(plan_.batch * plan_.groups * blocks), std::ref(block));
  }

  /// matrix[channel, tap, position] = x under that tap, 0 in the padding; x is the first channel of the group.
  template <class T>
  void gatherBlock(const T* x, int64_t first, int64_t count, T* matrix) const {
    const std::vector<WindowAxis>& axes = plan_.axes;
    for (int64_t c = 0; c < plan_.groupInputs; ++c, x += plan_.inputPositions())
      for (int64_t kd = 0; kd < axes[0].kernel; ++kd)
        for (int64_t kh = 0; kh < axes[1].kernel; ++kh)
          for (int64_t kw = 0; kw < axes[2].kernel; ++kw, matrix += count)
            gatherTap(x, kd, kh, kw, first, count, matrix);
  }
  template <class T>
  void gatherTap(const T* x, int64_t kd, int64_t kh, int64_t kw, int64_t first, int64_t count, T* to) const {
    const WindowAxis &deep = plan_.axes[0], &high = plan_.axes[1], &wide = plan_.axes[2];
    const TapRange columns = wide.outputsInside(kw);
    for (int64_t at = first, end = first + count; at < end;) {
      const int64_t row = at / wide.output, begin = at % wide.output;
      const int64_t stop = std::min(wide.output, begin + end - at);
      const int64_t d = deep.position(row / high.output, kd), h = high.position(row % high.output, kh);
      const bool isInside = d >= 0 && d < deep.input && h >= 0 && h < high.input;
      const T* from = x + (d * high.input + h) * wide.input;  // read only inside
      for (int64_t o = begin; o < stop; ++o)
        *to++ = isInside && o >= columns.begin && o < columns.end ? from[wide.position(o, kw)] : T(0);
      at += stop - begin;
    }
  }

  template <class T>
  void multiplyBlock(TensorList inputs, int64_t group, const T* matrix, int64_t count, T* y) const {
    const T* weights = inputs[1]->data<T>().data() + group * plan_.groupOutputs * depth_;
    const T* bias = has(inputs, 2) ? inputs[2]->data<T>().data() + group * plan_.groupOutputs : nullptr;
    const int64_t stride = plan_.outputPositions();
    cpu::multiplySmall({plan_.groupOutputs, count, depth_, depth_, 1, count, stride, -INFINITY, INFINITY}, weights,
                       matrix, y);
    const auto low = static_cast<T>(params_.clamp_low), high = static_cast<T>(params_.clamp_high);
    for (int64_t row = 0; row < plan_.groupOutputs; ++row, y += stride)
      for (int64_t i = 0; i < count; ++i) {
        const T value = y[i] + (bias ? bias[row] : T(0));
        y[i] = value < low ? low : value > high ? high : value;
      }
  }

  ConvParamsT params_;
  ConvPlan plan_{};         // three axes
  int64_t depth_ = 0;       // terms of one output
  int64_t positions_ = 0;   // of one block
  size_t matrixBytes_ = 0;  // of a thread's matrix
};

}  // namespace

Creator columnsCreator() { return cpu::creatorOf<ColumnsCpu>(cpu::supportsAll, DTypeSet(DType::Float64), "columns"); }

}  // namespace opkit::ops::conv
