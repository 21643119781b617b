// Gather on the CPU: whole slices are copied, whatever their dtype.
#include <cstring>

#include "engine/backend/cpu/cpu_kernel.h"
#include "ops/gather/gather.h"

namespace opkit::ops::gather {
namespace {

class GatherCpu final : public cpu::CpuKernel {
 public:
  GatherCpu(const CreateArgs& args, Backend& backend)
      : CpuKernel(args, backend), params_(args.params<GatherParams>()) {}

  Status onResize(TensorList inputs, TensorList) override {
    plan_ = planGather(params_, inputs[0]->desc.shape);
    return Status::ok();
  }

 protected:
  Status onRun(TensorList inputs, TensorList outputs) override {
    const Tensor& indices = *inputs[1];
    if (outputs[0]->desc.elements() == 0) return Status::ok();
    return indices.desc.dtype == DType::Int64
               ? copySlices(inputs[0]->bytes().data(), std::span<const int64_t>(indices.data<int64_t>()), *outputs[0])
               : copySlices(inputs[0]->bytes().data(), std::span<const int32_t>(indices.data<int32_t>()), *outputs[0]);
  }

 private:
  template <class Index>
  Status copySlices(const std::byte* data, std::span<const Index> indices, const Tensor& output) {
    const int64_t bytes = plan_.inner * static_cast<int64_t>(sizeOf(output.desc.dtype));
    const auto count = static_cast<int64_t>(indices.size());
    for (const Index index : indices) OPKIT_TRY(resolveIndex(index, plan_.extent).error());
    std::byte* to = output.bytes().data();
    cpu::parallelRows(pool_, plan_.outer * count, bytes / 4 + 4, [&](int64_t slice) {
      int64_t index = indices[static_cast<size_t>(slice % count)];
      if (index < 0) index += plan_.extent;
      std::memcpy(to + slice * bytes, data + (slice / count * plan_.extent + index) * bytes,
                  static_cast<size_t>(bytes));
    });
    return Status::ok();
  }

  GatherParamsT params_;
  GatherPlan plan_{};
};

}  // namespace

void addCpu(OpRegistry& registry) {
  registry.addCreator("cpu", "Gather", cpu::creatorOf<GatherCpu>(cpu::supportsAll, kAnyDType));
}

}  // namespace opkit::ops::gather
