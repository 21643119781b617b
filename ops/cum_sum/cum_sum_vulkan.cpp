#include "engine/backend/vulkan/vulkan_execution.h"
#include "engine/op/op_registry.h"
#include "ops/cum_sum/cum_sum.h"
#include "shaders/cum_sum/cum_sum.h"

namespace opkit::ops::cum_sum {
namespace {

using Shader = shaders::CumSum;

class CumSumVulkan final : public vulkan::VulkanExecution {
 public:
  CumSumVulkan(const CreateArgs& args, Backend& backend)
      : VulkanExecution(backend), params_(args.params<CumSumParams>()), axis_(toInt64(*args.constant(1))[0]) {}

  Status onEncode(TensorList inputs, TensorList outputs, vulkan::Encoder& encoder) override {
    const Shape& shape = outputs[0]->desc.shape;
    const auto axis = static_cast<size_t>(*normalizeAxis(axis_, shape.size()));
    const int64_t inner = elementCount(shape, axis + 1, shape.size());
    const int64_t rows = elementCount(shape, 0, axis) * inner;
    return encoder.dispatch<Shader>({*Shader::storageOf(outputs[0]->desc.dtype)}, {.x = inputs[0], .y = outputs[0]},
                                    {.rows = static_cast<uint32_t>(rows),
                                     .extent = static_cast<uint32_t>(shape[axis]),
                                     .inner = static_cast<uint32_t>(inner),
                                     .exclusive = params_.exclusive ? 1u : 0u,
                                     .reverse = params_.reverse ? 1u : 0u},
                                    vulkan::Groups::linear(rows, 64));
  }

  bool readsInput(size_t index) const override { return index == 0; }

 private:
  CumSumParamsT params_;
  int64_t axis_;
};

Status supports(const CreateArgs& args) {
  const DType dtype = args.outputs[0].dtype;
  if (!args.constant(1)) return Status::unsupported("CumSum: the Vulkan kernel needs a constant axis");
  if (sizeOf(dtype) == 8 && !args.device.int64) return Status::unsupported("CumSum: the device has no 64-bit integers");
  return vulkan::requireStorage<Shader>(args, dtype);
}

}  // namespace

void addVulkan(OpRegistry& registry) {
  registry.addCreator("vulkan", "CumSum", vulkan::creatorOf<CumSumVulkan>(supports));
}

}  // namespace opkit::ops::cum_sum
