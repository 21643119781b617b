#include "engine/backend/vulkan/broadcast_work.h"
#include "engine/backend/vulkan/vulkan_image.h"
#include "engine/op/clamp.h"
#include "engine/op/op_registry.h"
#include "ops/binary/binary.h"
#include "shaders/binary/binary.h"
#include "shaders/binary/binary_image.h"
#include "shaders/binary/compare.h"

namespace opkit::ops::binary {
namespace {

using vulkan::BroadcastWork;

/// Push constants that only the arithmetic shaders have.
template <class Push>
Push withClamp(Push push, const Clamp& clamp) {
  if constexpr (requires { push.low; }) {
    push.low = clamp.low;
    push.high = clamp.high;
  }
  return push;
}

/// Runs shader S: Binary for arithmetic, Compare for everything that gives bool.
template <class S>
class BinaryVulkan final : public vulkan::VulkanExecution {
 public:
  BinaryVulkan(const CreateArgs& args, Backend& backend)
      : VulkanExecution(backend), function_(functionOf(args.def.type)), params_(args.params<BinaryParams>()) {}

  Status onEncode(TensorList inputs, TensorList outputs, vulkan::Encoder& encoder) override {
    const Loops loops = loopsOf(params_, inputs[0]->desc.shape, inputs[1]->desc.shape);
    const BroadcastWork work = BroadcastWork::of(loops, encoder.caps());
    typename S::PushConstants push{};
    push.xStrides = work.strides[0];
    push.yStrides = work.strides[1];
    return vulkan::dispatchBroadcast<S>(encoder, {*S::storageOf(inputs[0]->desc.dtype)},
                                        {.x = inputs[0], .y = inputs[1], .z = outputs[0]},
                                        withClamp(push, clampOf(params_)), work, {.function = function_.id});
  }

 private:
  const Function& function_;
  BinaryParamsT params_;
};

/// Arithmetic on two NC4HW4 images of one shape.
class BinaryImageVulkan final : public vulkan::VulkanExecution {
 public:
  using Shader = shaders::BinaryImage;

  BinaryImageVulkan(const CreateArgs& args, Backend& backend)
      : VulkanExecution(backend), function_(functionOf(args.def.type)), clamp_(clampOf(args.params<BinaryParams>())) {}

  Status onEncode(TensorList inputs, TensorList outputs, vulkan::Encoder& encoder) override {
    const vulkan::ImageShape shape(outputs[0]->desc.shape);
    const Shader::PushConstants push{.count = shape.texels(),
                                     .columns = shape.width,
                                     .blocks = shape.blocks,
                                     .channels = shape.channels,
                                     .low = clamp_.low,
                                     .high = clamp_.high};
    return encoder.dispatch<Shader>({*Shader::storageOf(outputs[0]->desc.dtype)},
                                    {.x = inputs[0], .y = inputs[1], .z = outputs[0]}, push,
                                    vulkan::Items{shape.texels()}, {.function = function_.id});
  }

 private:
  const Function& function_;
  Clamp clamp_;
};

/// Images stay images; buffers are not converted for this.
Status supportsImage(const CreateArgs& args) {
  const TensorDesc* tensors[] = {&args.input(0), &args.input(1), args.outputs.data()};
  OPKIT_TRY(vulkan::requireImages(args, tensors));
  if (args.input(0) != args.input(1))
    return Status::unsupported("{}: the image kernel takes inputs of one shape, got {} and {}", args.def.type,
                               args.input(0).toString(), args.input(1).toString());
  if (args.constant(0) || args.constant(1)) return Status::unsupported("{}: constants are no images", args.def.type);
  if (args.layout(0) != Layout::NC4HW4 && args.layout(1) != Layout::NC4HW4)
    return Status::unsupported("{}: no input is an image", args.def.type);
  return Status::ok();
}

template <class S>
Status supports(const CreateArgs& args) {
  const DType dtype = args.input(0).dtype;
  if (args.input(1).dtype != dtype)
    return Status::unsupported("{}: the Vulkan kernel takes inputs of one type, got {} and {}", args.def.type,
                               nameOf(dtype), nameOf(args.input(1).dtype));
  const size_t loops = loopsOf(args.params<BinaryParams>(), args.input(0).shape, args.input(1).shape).size.size();
  if (loops > BroadcastWork::kMaxLoops)
    return Status::unsupported("{}: the Vulkan kernel broadcasts over up to {} merged axes, got {}", args.def.type,
                               BroadcastWork::kMaxLoops, loops);
  if (dtype == DType::Float64 && (args.def.type == "Pow" || args.def.type == "FMod"))
    return Status::unsupported("{}: the Vulkan kernel has no f64 variant", args.def.type);
  return vulkan::requireStorage<S>(args, dtype);
}

}  // namespace

void addVulkan(OpRegistry& registry) {
  for (const Function& function : functions()) {
    const bool takesFloats = registry.find(function.name)->inputs[0].dtypes.contains(DType::Float32);
    if (function.kind == Function::Kind::Arithmetic && takesFloats)  // images hold floats
      registry.addCreator("vulkan", function.name,
                          vulkan::creatorOf<BinaryImageVulkan>(supportsImage, Layout::NC4HW4, "image"));
    registry.addCreator("vulkan", function.name,
                        function.kind == Function::Kind::Arithmetic
                            ? vulkan::creatorOf<BinaryVulkan<shaders::Binary>>(supports<shaders::Binary>)
                            : vulkan::creatorOf<BinaryVulkan<shaders::Compare>>(supports<shaders::Compare>));
  }
}

}  // namespace opkit::ops::binary
