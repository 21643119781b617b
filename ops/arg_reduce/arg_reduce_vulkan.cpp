#include "engine/backend/vulkan/vulkan_execution.h"
#include "engine/op/op_registry.h"
#include "ops/arg_reduce/arg_reduce.h"
#include "shaders/arg_reduce/arg_reduce.h"

namespace opkit::ops::arg_reduce {
namespace {

using Shader = shaders::ArgReduce;

class ArgReduceVulkan final : public vulkan::VulkanExecution {
 public:
  ArgReduceVulkan(const CreateArgs& args, Backend& backend)
      : VulkanExecution(backend), params_(args.params<ArgReduceParams>()), smallest_(args.def.type == "ArgMin") {}

  Status onEncode(TensorList inputs, TensorList outputs, vulkan::Encoder& encoder) override {
    const Rows rows = rowsOf(params_, inputs[0]->desc.shape);
    const int64_t count = rows.outer * rows.inner;
    return encoder.dispatch<Shader>({*Shader::storageOf(inputs[0]->desc.dtype)}, {.x = inputs[0], .y = outputs[0]},
                                    {.rows = static_cast<uint32_t>(count),
                                     .extent = static_cast<uint32_t>(rows.extent),
                                     .inner = static_cast<uint32_t>(rows.inner),
                                     .smallest = smallest_ ? 1u : 0u,
                                     .last = params_.select_last_index ? 1u : 0u},
                                    vulkan::Groups::linear(count, 64));
  }

 private:
  ArgReduceParamsT params_;
  bool smallest_;
};

Status supports(const CreateArgs& args) {
  const DType dtype = args.input(0).dtype;
  if (!isFloat(dtype) && sizeOf(dtype) == 8 && !args.device.int64)
    return Status::unsupported("{}: the device has no 64-bit integers", args.def.type);
  OPKIT_TRY(vulkan::requireStorage<Shader>(args, dtype));
  const Rows rows = rowsOf(args.params<ArgReduceParams>(), args.input(0).shape);
  return vulkan::requireLoops(args, vulkan::loopPasses({rows.extent}));
}

}  // namespace

void addVulkan(OpRegistry& registry) {
  for (const char* type : {"ArgMax", "ArgMin"})
    registry.addCreator("vulkan", type, vulkan::creatorOf<ArgReduceVulkan>(supports));
}

}  // namespace opkit::ops::arg_reduce
