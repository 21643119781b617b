#include "engine/backend/vulkan/vulkan_execution.h"
#include "engine/op/op_registry.h"
#include "ops/arg_reduce/arg_reduce.h"
#include "shaders/arg_reduce/arg_reduce.h"

namespace opkit::ops::arg_reduce {
namespace {

using Shader = shaders::ArgReduce;

vulkan::RowWork workOf(const ArgReduceParamsT& params, const Shape& shape) {
  const Rows rows = rowsOf(params, shape);
  return {.rows = rows.outer * rows.inner, .extent = rows.extent, .distance = rows.inner};
}

class ArgReduceVulkan final : public vulkan::VulkanExecution {
 public:
  ArgReduceVulkan(const CreateArgs& args, Backend& backend)
      : VulkanExecution(backend), params_(args.params<ArgReduceParams>()), smallest_(args.def.type == "ArgMin") {}

  Status onEncode(TensorList inputs, TensorList outputs, vulkan::Encoder& encoder) override {
    const vulkan::RowWork work = workOf(params_, inputs[0]->desc.shape);
    return encoder.dispatch<Shader>({*Shader::storageOf(inputs[0]->desc.dtype)}, {.x = inputs[0], .y = outputs[0]},
                                    {.rows = work.rows,
                                     .extent = work.extent,
                                     .inner = work.distance,
                                     .smallest = smallest_,
                                     .last = params_.select_last_index},
                                    work);
  }

 private:
  ArgReduceParamsT params_;
  bool smallest_;
};

Status supports(const CreateArgs& args) { return vulkan::requireStorage<Shader>(args, args.input(0).dtype); }

}  // namespace

void addVulkan(OpRegistry& registry) {
  for (const char* type : {"ArgMax", "ArgMin"})
    registry.addCreator("vulkan", type, vulkan::creatorOf<ArgReduceVulkan>(supports));
}

}  // namespace opkit::ops::arg_reduce
