#include <bit>

#include "engine/backend/vulkan/vulkan_execution.h"
#include "engine/op/op_registry.h"
#include "ops/label_encoder/label_encoder_parts.h"
#include "shaders/label_encoder/label_encoder.h"

namespace opkit::ops::label_encoder {
namespace {

using Shader = shaders::LabelEncoder;

class LabelEncoderVulkan final : public vulkan::VulkanExecution {
 public:
  LabelEncoderVulkan(const CreateArgs&, Backend& backend) : VulkanExecution(backend) {}

  Status onEncode(TensorList inputs, TensorList outputs, vulkan::Encoder& encoder) override {
    const TensorDesc &x = inputs[0]->desc, &y = outputs[0]->desc;
    const int64_t count = y.elements(), keys = inputs[1]->desc.elements();
    if (count == 0) return Status::ok();
    // Without keys their buffers are not read.
    return encoder.dispatch<Shader>({*Shader::storageOf(x.dtype), *Shader::wordOfBytes(sizeOf(y.dtype))},
                                    {.x = inputs[0],
                                     .keys = keys == 0 ? inputs[0] : inputs[1],
                                     .values = keys == 0 ? inputs[3] : inputs[2],
                                     .other = inputs[3],
                                     .y = outputs[0]},
                                    {.count = count, .keyCount = keys}, vulkan::Items{count});
  }
};

Status supports(const CreateArgs& args) {
  return vulkan::requireLoops(args, std::bit_width(static_cast<uint64_t>(args.input(1).elements())) + 2);
}

}  // namespace

void addVulkan(OpRegistry& registry) {
  registry.addCreator("vulkan", "LabelEncoder", vulkan::creatorOf<LabelEncoderVulkan>(supports));
}

}  // namespace opkit::ops::label_encoder
