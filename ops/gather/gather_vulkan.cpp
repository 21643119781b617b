#include "engine/backend/vulkan/vulkan_execution.h"
#include "engine/op/op_registry.h"
#include "ops/gather/gather.h"
#include "shaders/gather/gather.h"

namespace opkit::ops::gather {
namespace {

using Shader = shaders::Gather;

// The widest word of which a slice is a whole number.
size_t wordBytes(size_t sliceBytes) {
  for (const size_t bytes : {16, 8, 4, 2})
    if (sliceBytes % bytes == 0) return bytes;
  return 1;
}

class GatherVulkan final : public vulkan::VulkanExecution {
 public:
  GatherVulkan(const CreateArgs& args, Backend& backend)
      : VulkanExecution(backend), params_(args.params<GatherParams>()) {}

  Status onEncode(TensorList inputs, TensorList outputs, vulkan::Encoder& encoder) override {
    const Tensor &data = *inputs[0], &indices = *inputs[1];
    const GatherPlan plan = planGather(params_, data.desc.shape);
    if (outputs[0]->desc.elements() == 0) return Status::ok();
    const size_t sliceBytes = static_cast<size_t>(plan.inner) * sizeOf(data.desc.dtype);
    const size_t word = wordBytes(sliceBytes);
    const auto count = static_cast<int64_t>(outputs[0]->desc.sizeBytes() / word);
    return encoder.dispatch<Shader>({*Shader::wordOfBytes(word)}, {.x = &data, .indices = &indices, .y = outputs[0]},
                                    {.count = static_cast<uint32_t>(count),
                                     .indexCount = static_cast<uint32_t>(indices.desc.elements()),
                                     .indexWords = static_cast<uint32_t>(sizeOf(indices.desc.dtype) / 4),
                                     .extent = static_cast<uint32_t>(plan.extent),
                                     .inner = static_cast<uint32_t>(sliceBytes / word)},
                                    vulkan::Groups::linear(count, 64));
  }

 private:
  GatherParamsT params_;
};

Status supports(const CreateArgs& args) {
  const GatherPlan plan = planGather(args.params<GatherParams>(), args.input(0).shape);
  const size_t word = wordBytes(static_cast<size_t>(plan.inner) * sizeOf(args.input(0).dtype));
  if ((word == 1 && !args.device.storage8) || (word == 2 && !args.device.storage16))
    return Status::unsupported("Gather: the device cannot load {}-byte words from buffers", word);
  if (plan.extent == 0 || plan.extent > INT32_MAX)
    return Status::unsupported("Gather: the Vulkan kernel takes extents in [1, 2^31), got {}", plan.extent);
  // The kernel clamps; leave the report to the CPU.
  if (const Tensor* indices = args.constant(1))
    for (const int64_t index : toInt64(*indices))
      if (const auto resolved = resolveIndex(index, plan.extent); !resolved)
        return Status::unsupported("Gather: {}", resolved.error().message());
  for (const TensorDesc* desc : {args.inputs[0], args.inputs[1], &args.outputs[0]})
    if (desc->sizeBytes() > args.device.maxTensorBytes)
      return Status::unsupported("Gather: {} exceeds the device limit of {} bytes per buffer", desc->toString(),
                                 args.device.maxTensorBytes);
  return Status::ok();
}

}  // namespace

void addVulkan(OpRegistry& registry) {
  registry.addCreator("vulkan", "Gather", vulkan::creatorOf<GatherVulkan>(supports));
}

}  // namespace opkit::ops::gather
