// OneHot on the CPU: `off` everywhere, then one `on` per index. A row is what the indices between two values of the
// leading axes make.
#include "engine/backend/cpu/cpu_kernel.h"
#include "engine/op/rows.h"
#include "ops/one_hot/one_hot_parts.h"

namespace opkit::ops::one_hot {
namespace {

/// The class that an index names, -1 for none.
template <class T>
int64_t classOf(T index, int64_t depth) {
  if constexpr (std::is_same_v<T, Half>) {
    return classOf(toFloat(index), depth);
  } else if constexpr (std::is_floating_point_v<T>) {
    const bool isSmall = index > static_cast<T>(-kMaxElements) && index < static_cast<T>(kMaxElements);
    return isSmall ? classOf(static_cast<int64_t>(index), depth) : -1;
  } else {
    if (std::is_unsigned_v<T> && static_cast<uint64_t>(index) >= static_cast<uint64_t>(depth)) return -1;
    const auto value = static_cast<int64_t>(index);
    if (value < -depth || value >= depth) return -1;
    return value < 0 ? value + depth : value;
  }
}

class OneHotCpu final : public cpu::CpuKernel {
 public:
  OneHotCpu(const CreateArgs& args, Backend& backend)
      : CpuKernel(args, backend), axis_(args.params<OneHotParams>().axis) {}

 protected:
  Status onRun(TensorList inputs, TensorList outputs) override {
    if (outputs[0]->desc.elements() == 0) return Status::ok();
    visitDType(inputs[0]->desc.dtype, [&](auto tag) {
      const auto* indices = inputs[0]->data<decltype(tag)>().data();
      switch (sizeOf(outputs[0]->desc.dtype)) {
        case 1: return fill<uint8_t>(indices, *inputs[2], *outputs[0]);
        case 2: return fill<uint16_t>(indices, *inputs[2], *outputs[0]);
        case 4: return fill<uint32_t>(indices, *inputs[2], *outputs[0]);
        default: return fill<uint64_t>(indices, *inputs[2], *outputs[0]);
      }
    });
    return Status::ok();
  }

 private:
  template <class Word, class Index>
  void fill(const Index* indices, const Tensor& values, const Tensor& output) const {
    const Rows rows = rowsAlong(output.desc.shape, axis_);
    const auto* pair = reinterpret_cast<const Word*>(values.bytes().data());
    const Word off = pair[0], on = pair[1];
    auto* y = reinterpret_cast<Word*>(output.bytes().data());
    // A block of indices of one row: few rows are shared by threads.
    constexpr int64_t kBlock = 1024;
    const int64_t blocks = (rows.inner + kBlock - 1) / kBlock;
    cpu::parallelRows(pool_, rows.outer * blocks, rows.extent * std::min(kBlock, rows.inner), [&](int64_t item) {
      const int64_t outer = item / blocks, begin = item % blocks * kBlock, count = std::min(kBlock, rows.inner - begin);
      Word* first = y + outer * rows.extent * rows.inner + begin;
      if (blocks == 1)
        std::fill_n(first, rows.extent * rows.inner, off);
      else
        for (int64_t d = 0; d < rows.extent; ++d) std::fill_n(first + d * rows.inner, count, off);
      for (int64_t i = 0; i < count; ++i) {
        const int64_t chosen = classOf(indices[outer * rows.inner + begin + i], rows.extent);
        if (chosen >= 0) first[chosen * rows.inner + i] = on;
      }
    });
  }

  int axis_;
};

}  // namespace

void addCpu(OpRegistry& registry) {
  registry.addCreator("cpu", "OneHot", cpu::creatorOf<OneHotCpu>(cpu::supportsAll, kAnyDType));
}

}  // namespace opkit::ops::one_hot
