#include "ops/pool/pool_bytes_cpu.h"

#include <limits>

#include "engine/backend/cpu/cpu_kernel.h"
#include "ops/pool/pool.h"
#include "ops/pool/pool_byte_rows.h"

namespace opkit::ops::pool {
namespace {

constexpr int64_t kLine = 64;
/// Bytes that a task reads, at least: a plane may be a few bytes.
constexpr int64_t kTaskBytes = 32768;

class ByteMaxPool final : public cpu::CpuKernel {
 public:
  ByteMaxPool(const CreateArgs& args, Backend& backend)
      : CpuKernel(args, backend), params_(args.params<PoolParams>()) {}

  Result<size_t> scratchBytes(TensorList inputs, TensorList) override {
    OPKIT_TRY(plan(inputs));
    return static_cast<size_t>(rowBytes_) * pool_.threadCount();
  }
  Status onResize(TensorList inputs, TensorList) override { return plan(inputs); }

 protected:
  Status onRun(TensorList inputs, TensorList outputs) override {
    if (outputs[0]->desc.elements() == 0) return Status::ok();
    if (inputs[0]->desc.dtype == DType::Int8)
      pool(inputs[0]->data<int8_t>().data(), outputs[0]->data<int8_t>().data());
    else
      pool(inputs[0]->data<uint8_t>().data(), outputs[0]->data<uint8_t>().data());
    return Status::ok();
  }

 private:
  Status plan(TensorList inputs) {
    OPKIT_ASSIGN(PoolPlan planned, planPool(params_, inputs[0]->desc.shape));
    planes_ = planned.planes;
    const std::vector<WindowAxis> axes = padWindowRank(std::move(planned.axes), 2);
    const WindowAxis &high = axes[0], &wide = axes[1];
    rows_.clear();
    for (int64_t o = 0; o < high.output; ++o) {
      const TapRange taps = high.tapsInside(o);
      rows_.push_back({taps.count() > 0 ? high.position(o, taps.begin) : 0, taps.count()});
    }
    const int64_t needed = std::max<int64_t>(wide.output - 1, 0) * wide.stride + (wide.kernel - 1) * wide.dilation + 1;
    plane_ = {.rows = rows_.data(),
              .rowCount = high.output,
              .width = wide.input,
              .distance = high.dilation * wide.input,
              .padding = wide.padBegin,
              .valid = std::clamp<int64_t>(needed - wide.padBegin, 0, wide.input),
              .windows = {wide.stride, wide.dilation, wide.kernel, wide.output}};
    inputBytes_ = high.input * wide.input;
    outputBytes_ = high.output * wide.output;
    rowBytes_ = (std::max(needed, wide.padBegin) + kByteSlack + kLine - 1) / kLine * kLine;
    return Status::ok();
  }

  template <class T>
  void pool(const T* x, T* y) const {
    const int64_t perTask =
        pool_.splitsAll() ? 1 : std::max<int64_t>(kTaskBytes / std::max<int64_t>(inputBytes_, 1), 1);
    const auto task = [&](size_t index, size_t thread) {
      T* row = reinterpret_cast<T*>(scratch().bytes().data()) + rowBytes_ * static_cast<int64_t>(thread);
      std::fill_n(row, rowBytes_, std::numeric_limits<T>::lowest());
      const int64_t first = static_cast<int64_t>(index) * perTask;
      for (int64_t i = first; i < std::min(first + perTask, planes_); ++i)
        largestOfPlane(x + i * inputBytes_, plane_, row, y + i * outputBytes_);
    };
    pool_.parallelFor(static_cast<size_t>((planes_ + perTask - 1) / perTask), std::ref(task));
  }

  PoolParamsT params_;
  int64_t planes_ = 0;
  std::vector<JoinedRows> rows_;
  BytePlane plane_{};
  int64_t inputBytes_ = 0, outputBytes_ = 0;  // of a plane
  int64_t rowBytes_ = 0;                      // the scratch memory of a thread
};

Status supports(const CreateArgs& args) {
  const size_t axes = args.input(0).shape.size() - 2;
  if (axes > 2) return Status::unsupported("MaxPool: the CPU kernel of bytes takes 1 or 2 spatial axes, got {}", axes);
  if (args.outputs.size() > 1) return Status::unsupported("MaxPool: the CPU kernel of bytes gives no indices");
  return Status::ok();
}

}  // namespace

Creator byteMaxPool() {
  return cpu::creatorOf<ByteMaxPool>(supports, DTypeSet{DType::Int8, DType::UInt8}, "byte rows");
}

}  // namespace opkit::ops::pool
