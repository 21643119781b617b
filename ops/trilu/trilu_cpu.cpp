// Trilu on the CPU: each row is one copied and one zeroed run, for any dtype.
#include <cstring>

#include "engine/backend/cpu/cpu_kernel.h"
#include "ops/trilu/trilu_parts.h"

namespace opkit::ops::trilu {
namespace {

class TriluCpu final : public cpu::CpuKernel {
 public:
  TriluCpu(const CreateArgs& args, Backend& backend)
      : CpuKernel(args, backend), upper_(args.params<TriluParams>().upper) {}

 protected:
  Status onRun(TensorList inputs, TensorList outputs) override {
    const TensorDesc& desc = outputs[0]->desc;
    if (desc.elements() == 0) return Status::ok();
    const int64_t rows = desc.shape[desc.shape.size() - 2], columns = desc.shape.back();
    // Diagonals beyond the matrix are all alike.
    const int64_t k = has(inputs, 1) ? std::clamp(inputs[1]->data<int64_t>()[0], -rows - 1, columns + 1) : 0;
    const size_t bytes = sizeOf(desc.dtype);
    const std::byte* x = inputs[0]->bytes().data();
    std::byte* y = outputs[0]->bytes().data();
    cpu::parallelRows(pool_, desc.elements() / columns, columns, [&](int64_t row) {
      const int64_t diagonal = row % rows + k;
      const auto split = static_cast<size_t>(std::clamp<int64_t>(upper_ ? diagonal : diagonal + 1, 0, columns));
      const size_t first = static_cast<size_t>(row * columns) * bytes;
      const size_t head = split * bytes, tail = static_cast<size_t>(columns) * bytes - head;
      if (upper_) {
        std::memset(y + first, 0, head);
        std::memcpy(y + first + head, x + first + head, tail);
      } else {
        std::memcpy(y + first, x + first, head);
        std::memset(y + first + head, 0, tail);
      }
    });
    return Status::ok();
  }

 private:
  bool upper_;
};

}  // namespace

void addCpu(OpRegistry& registry) {
  registry.addCreator("cpu", "Trilu", cpu::creatorOf<TriluCpu>(cpu::supportsAll, kAnyDType));
}

}  // namespace opkit::ops::trilu
