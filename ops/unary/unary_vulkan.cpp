#include "engine/backend/vulkan/vulkan_execution.h"
#include "engine/backend/vulkan/vulkan_image.h"
#include "engine/op/op_registry.h"
#include "ops/unary/unary.h"
#include "shaders/unary/logical_not.h"
#include "shaders/unary/unary.h"
#include "shaders/unary/unary_double.h"
#include "shaders/unary/unary_image.h"
#include "shaders/unary/unary_integer.h"
#include "shaders/unary/unary_test.h"

namespace opkit::ops::unary {
namespace {

/// Runs shader S, one of the four that take a function of the table.
template <class S>
class UnaryVulkan final : public vulkan::VulkanExecution {
 public:
  UnaryVulkan(const CreateArgs& args, Backend& backend)
      : VulkanExecution(backend),
        function_(functionOf(args.def.type)),
        coefficients_(coefficientsOf(function_, args.params<UnaryParams>())) {}

  Status onEncode(TensorList inputs, TensorList outputs, vulkan::Encoder& encoder) override {
    const int64_t count = outputs[0]->desc.elements();
    typename S::PushConstants push{};
    push.count = count;
    if constexpr (!std::is_same_v<S, shaders::UnaryInteger>) {
      push.a = coefficients_.a;
      push.b = coefficients_.b;
    }
    return encoder.dispatch<S>({*S::storageOf(inputs[0]->desc.dtype)}, {.x = inputs[0], .y = outputs[0]}, push,
                               vulkan::Elements{count}, {.function = function_.id});
  }

 private:
  const Function& function_;
  Coefficients coefficients_;
};

/// Like UnaryVulkan, on NC4HW4 images.
class UnaryImageVulkan final : public vulkan::VulkanExecution {
 public:
  using Shader = shaders::UnaryImage;

  UnaryImageVulkan(const CreateArgs& args, Backend& backend)
      : VulkanExecution(backend),
        function_(functionOf(args.def.type)),
        coefficients_(coefficientsOf(function_, args.params<UnaryParams>())) {}

  Status onEncode(TensorList inputs, TensorList outputs, vulkan::Encoder& encoder) override {
    const vulkan::ImageShape shape(outputs[0]->desc.shape);
    const Shader::PushConstants push{.count = shape.texels(),
                                     .columns = shape.width,
                                     .blocks = shape.blocks,
                                     .channels = shape.channels,
                                     .a = coefficients_.a,
                                     .b = coefficients_.b};
    return encoder.dispatch<Shader>({*Shader::storageOf(inputs[0]->desc.dtype)}, {.x = inputs[0], .y = outputs[0]},
                                    push, vulkan::Items{shape.texels()}, {.function = function_.id});
  }

 private:
  const Function& function_;
  Coefficients coefficients_;
};

/// Images stay images; a buffer is not converted for this.
Status supportsImage(const CreateArgs& args) {
  const TensorDesc* tensors[] = {&args.input(0)};
  OPKIT_TRY(vulkan::requireImages(args, tensors));
  if (args.layout(0) != Layout::NC4HW4) return Status::unsupported("{}: the input is no image", args.def.type);
  return Status::ok();
}

class NotVulkan final : public vulkan::VulkanExecution {
 public:
  NotVulkan(const CreateArgs&, Backend& backend) : VulkanExecution(backend) {}

  Status onEncode(TensorList inputs, TensorList outputs, vulkan::Encoder& encoder) override {
    const int64_t count = outputs[0]->desc.elements();
    return encoder.dispatch<shaders::LogicalNot>({}, {.x = inputs[0], .y = outputs[0]}, {.count = count},
                                                 vulkan::Elements{count});
  }
};

template <class S>
Status supports(const CreateArgs& args) {
  return vulkan::requireStorage<S>(args, args.input(0).dtype);
}

constexpr DTypeSet kNarrowFloats{DType::Float32, DType::Float16}, kDouble{DType::Float64};

template <class S>
void addKernel(OpRegistry& registry, const char* type, DTypeSet dtypes) {
  Creator creator = vulkan::creatorOf<UnaryVulkan<S>>(supports<S>);
  creator.dtypes = dtypes;
  registry.addCreator("vulkan", type, std::move(creator));
}

}  // namespace

void addVulkan(OpRegistry& registry) {
  for (const Function& function : functions()) {
    if (function.isTest)
      addKernel<shaders::UnaryTest>(registry, function.name, kFloats);
    else {
      registry.addCreator("vulkan", function.name,
                          vulkan::creatorOf<UnaryImageVulkan>(supportsImage, Layout::NC4HW4, "image"));
      addKernel<shaders::Unary>(registry, function.name, function.takesDouble ? kNarrowFloats : kFloats);
    }
    if (function.takesDouble) addKernel<shaders::UnaryDouble>(registry, function.name, kDouble);
    if (function.takesIntegers) addKernel<shaders::UnaryInteger>(registry, function.name, kIntegers);
  }
  registry.addCreator("vulkan", "Not", vulkan::creatorOf<NotVulkan>(vulkan::takeAll));
}

}  // namespace opkit::ops::unary
