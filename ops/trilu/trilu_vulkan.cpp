#include "engine/backend/vulkan/vulkan_execution.h"
#include "engine/op/op_registry.h"
#include "ops/trilu/trilu_parts.h"
#include "shaders/trilu/trilu.h"

namespace opkit::ops::trilu {
namespace {

using Shader = shaders::Trilu;

constexpr size_t kWidestWord = 4;  // with vectors of four

class TriluVulkan final : public vulkan::VulkanExecution {
 public:
  TriluVulkan(const CreateArgs& args, Backend& backend)
      : VulkanExecution(backend), upper_(args.params<TriluParams>().upper), hasDiagonal_(args.hasInput(1)) {}

  Status onEncode(TensorList inputs, TensorList outputs, vulkan::Encoder& encoder) override {
    const TensorDesc& output = outputs[0]->desc;
    const int64_t count = output.elements();
    // Without k its binding still needs a buffer; the kernel does not read it.
    return encoder.dispatch<Shader>(
        {*Shader::wordOfBytes(sizeOf(output.dtype))},
        {.x = inputs[0], .k = hasDiagonal_ ? inputs[1] : inputs[0], .y = outputs[0]},
        {.count = count, .rows = output.shape[output.shape.size() - 2], .columns = output.shape.back()},
        vulkan::Elements{count, sizeOf(output.dtype) <= kWidestWord}, {.upper = upper_, .hasDiagonal = hasDiagonal_});
  }

 private:
  bool upper_;
  bool hasDiagonal_;
};

}  // namespace

void addVulkan(OpRegistry& registry) {
  registry.addCreator("vulkan", "Trilu", vulkan::creatorOf<TriluVulkan>(vulkan::takeAll));
}

}  // namespace opkit::ops::trilu
