#include "engine/backend/vulkan/vulkan_execution.h"
#include "engine/op/op_registry.h"
#include "ops/random/fill.h"
#include "shaders/random/random_fill.h"
#include "shaders/random/random_pick.h"

namespace opkit::ops::random {
namespace {

int64_t low(uint64_t key) { return static_cast<int64_t>(key & 0xFFFFFFFF); }
int64_t high(uint64_t key) { return static_cast<int64_t>(key >> 32); }

class RandomVulkan final : public vulkan::VulkanExecution {
 public:
  using Shader = shaders::RandomFill;

  RandomVulkan(const CreateArgs& args, Backend& backend)
      : VulkanExecution(backend), fill_(fillOf(args.def.type, args.params<RandomParams>())) {}

  bool readsInput(size_t) const override { return false; }

  Status onEncode(TensorList, TensorList outputs, vulkan::Encoder& encoder) override {
    const int64_t count = outputs[0]->desc.elements();
    return encoder.dispatch<Shader>({*Shader::storageOf(outputs[0]->desc.dtype)}, {.y = outputs[0]},
                                    {.count = count,
                                     .keyLow = low(fill_.key),
                                     .keyHigh = high(fill_.key),
                                     .offset = fill_.offset,
                                     .factor = fill_.factor},
                                    vulkan::Items{(count + 3) / 4}, {.isNormal = fill_.isNormal});
  }

 private:
  Fill fill_;
};

class SampleRowsVulkan final : public vulkan::VulkanExecution {
 public:
  using Shader = shaders::RandomPick;

  SampleRowsVulkan(const CreateArgs& args, Backend& backend)
      : VulkanExecution(backend), params_(args.params<SamplingParams>()) {}

  Status onEncode(TensorList inputs, TensorList outputs, vulkan::Encoder& encoder) override {
    const int64_t count = outputs[0]->desc.elements();
    return encoder.dispatch<Shader>(
        {*Shader::storageOf(inputs[0]->desc.dtype), *Shader::wordOfBytes(sizeOf(outputs[0]->desc.dtype))},
        {.sums = inputs[0], .y = outputs[0]},
        {.count = count,
         .classes = inputs[0]->desc.shape[1],
         .samples = params_.samples,
         .keyLow = low(params_.key),
         .keyHigh = high(params_.key)},
        vulkan::Items{count});
  }

 private:
  SamplingParamsT params_;
};

}  // namespace

void addVulkan(OpRegistry& registry) {
  using vulkan::creatorOf;
  for (const char* type : {"RandomUniform", "RandomNormal"})
    registry.addCreator("vulkan", type, creatorOf<RandomVulkan>([](const CreateArgs& args) {
                          return vulkan::requireStorage<shaders::RandomFill>(args, args.outputs[0].dtype);
                        }));
  registry.addCreator("vulkan", "SampleRows", creatorOf<SampleRowsVulkan>([](const CreateArgs& args) {
                        return vulkan::requireStorage<shaders::RandomPick>(args, args.input(0).dtype);
                      }));
}

}  // namespace opkit::ops::random
