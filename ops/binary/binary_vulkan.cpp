#include "engine/backend/vulkan/vulkan_execution.h"
#include "engine/op/op_registry.h"
#include "ops/binary/binary.h"
#include "shaders/binary/binary.h"
#include "shaders/binary/compare.h"

namespace opkit::ops::binary {
namespace {

constexpr size_t kMaxLoops = 6;

/// Runs shader S: Binary for arithmetic, Compare for everything that gives bool.
template <class S>
class BinaryVulkan final : public vulkan::VulkanExecution {
 public:
  BinaryVulkan(const CreateArgs& args, Backend& backend)
      : VulkanExecution(backend), function_(functionOf(args.def.type)), params_(args.params<BinaryParams>()) {}

  Status onEncode(TensorList inputs, TensorList outputs, vulkan::Encoder& encoder) override {
    const Loops loops = loopsOf(params_, inputs[0]->desc.shape, inputs[1]->desc.shape);
    const int64_t count = outputs[0]->desc.elements();
    return encoder.dispatch<S>({*S::storageOf(inputs[0]->desc.dtype)},
                               {.x = inputs[0], .y = inputs[1], .z = outputs[0]},
                               {.count = static_cast<uint32_t>(count),
                                .sizes = packed<kMaxLoops>(loops.size),
                                .xStrides = packed<kMaxLoops>(loops.strides[0]),
                                .yStrides = packed<kMaxLoops>(loops.strides[1])},
                               vulkan::Groups::linear(count, 64),
                               {.function = function_.id, .loops = static_cast<uint32_t>(loops.size.size())});
  }

 private:
  const Function& function_;
  BinaryParamsT params_;
};

template <class S>
Status supports(const CreateArgs& args) {
  const DType dtype = args.input(0).dtype;
  if (args.input(1).dtype != dtype)
    return Status::unsupported("{}: the Vulkan kernel takes inputs of one type, got {} and {}", args.def.type,
                               nameOf(dtype), nameOf(args.input(1).dtype));
  if (sizeOf(dtype) == 8 && !args.device.int64)
    return Status::unsupported("{}: the device has no 64-bit integers", args.def.type);
  const size_t loops = loopsOf(args.params<BinaryParams>(), args.input(0).shape, args.input(1).shape).size.size();
  if (loops > kMaxLoops)
    return Status::unsupported("{}: the Vulkan kernel broadcasts over up to {} merged axes, got {}", args.def.type,
                               kMaxLoops, loops);
  return vulkan::requireStorage<S>(args, dtype);
}

}  // namespace

void addVulkan(OpRegistry& registry) {
  for (const Function& function : functions()) {
    registry.addCreator("vulkan", function.name,
                        function.kind == Function::Kind::Arithmetic
                            ? vulkan::creatorOf<BinaryVulkan<shaders::Binary>>(supports<shaders::Binary>)
                            : vulkan::creatorOf<BinaryVulkan<shaders::Compare>>(supports<shaders::Compare>));
  }
}

}  // namespace opkit::ops::binary
