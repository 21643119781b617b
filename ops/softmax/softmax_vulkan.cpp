#include "engine/backend/vulkan/vulkan_execution.h"
#include "engine/op/op_registry.h"
#include "ops/softmax/softmax.h"
#include "shaders/softmax/softmax.h"

namespace opkit::ops::softmax {
namespace {

using Shader = shaders::Softmax;

vulkan::RowWork workOf(const SoftmaxParamsT& params, const TensorDesc& x) {
  vulkan::RowWork work = vulkan::RowWork::over(rowsOf(params, x.shape), 3).keeping();
  work.elementBytes = static_cast<int64_t>(sizeOf(x.dtype));
  return work;
}

constexpr int64_t kPlainSum = 256;  // elements whose plain sum is exact enough; compensation costs time

class SoftmaxVulkan final : public vulkan::VulkanExecution {
 public:
  SoftmaxVulkan(const CreateArgs& args, Backend& backend)
      : VulkanExecution(backend), params_(args.params<SoftmaxParams>()) {}

  Status onEncode(TensorList inputs, TensorList outputs, vulkan::Encoder& encoder) override {
    const vulkan::RowWork work = workOf(params_, inputs[0]->desc);
    // A pass over memory costs more than exponentials, unless caches hold the rows.
    const bool keeps = vulkan::RowTeam::of(work, encoder.caps()).keeps != vulkan::RowTeam::Keeps::Nothing;
    const bool online = !keeps && encoder.caps().deviceClass->rowTileBytes > 0;
    return encoder.dispatch<Shader>(
        {*Shader::storageOf(outputs[0]->desc.dtype)}, {.x = inputs[0], .y = outputs[0]},
        {.rows = work.rows, .extent = work.extent, .inner = work.distance, .logarithm = params_.log}, work,
        {.compensated = work.extent > kPlainSum, .online = online});
  }

 private:
  SoftmaxParamsT params_;
};

Status supports(const CreateArgs& args) { return vulkan::requireStorage<Shader>(args, args.outputs[0].dtype); }

}  // namespace

void addVulkan(OpRegistry& registry) {
  registry.addCreator("vulkan", "Softmax", vulkan::creatorOf<SoftmaxVulkan>(supports));
}

}  // namespace opkit::ops::softmax
