#include "engine/backend/device_class.h"
#include "engine/backend/vulkan/row_split.h"
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

constexpr int64_t kMostParts = 256;               // of a row: every part reads the sums of all
enum Stage : uint32_t { kWhole, kSums, kParts };  // of the shader

class SoftmaxVulkan final : public vulkan::VulkanExecution {
 public:
  SoftmaxVulkan(const CreateArgs& args, Backend& backend)
      : VulkanExecution(backend), params_(args.params<SoftmaxParams>()) {}

  Status onEncode(TensorList inputs, TensorList outputs, vulkan::Encoder& encoder) override {
    const Tensor &x = *inputs[0], &y = *outputs[0];
    const vulkan::RowWork work = workOf(params_, x.desc);
    // A pass over memory costs more than exponentials, unless caches hold the rows.
    const bool keeps = vulkan::RowTeam::of(work, encoder.caps()).keeps != vulkan::RowTeam::Keeps::Nothing;
    const bool online = !keeps && encoder.caps().deviceClass->rowTileBytes > 0;
    const vulkan::RowSplit split = vulkan::RowSplit::of(work, encoder.caps(), kMostParts);
    if (!online || !split.isSplit())
      return encodeStage(kWhole, online, work, {1, work.extent}, {.x = &x, .y = &y, .partSums = &y}, encoder);
    OPKIT_ASSIGN(const Tensor* sums, encoder.scratch({DType::Float32, {2, split.parts, work.rows}}));
    const Shader::Bindings tensors{.x = &x, .y = &y, .partSums = sums};
    OPKIT_TRY(encodeStage(kSums, online, work, split, tensors, encoder));
    return encodeStage(kParts, online, work, split, tensors, encoder);
  }

 private:
  Status encodeStage(Stage stage, bool online, const vulkan::RowWork& work, vulkan::RowSplit split,
                     const Shader::Bindings& tensors, vulkan::Encoder& encoder) const {
    return encoder.dispatch<Shader>({*Shader::storageOf(tensors.y->desc.dtype)}, tensors,
                                    {.rows = work.rows,
                                     .extent = work.extent,
                                     .inner = work.distance,
                                     .logarithm = params_.log,
                                     .parts = split.parts,
                                     .partLength = split.length},
                                    split.isSplit() ? split.folding(work) : work,
                                    {.compensated = work.extent > kPlainSum, .online = online, .stage = stage});
  }

  SoftmaxParamsT params_;
};

Status supports(const CreateArgs& args) { return vulkan::requireStorage<Shader>(args, args.outputs[0].dtype); }

}  // namespace

void addVulkan(OpRegistry& registry) {
  registry.addCreator("vulkan", "Softmax", vulkan::creatorOf<SoftmaxVulkan>(supports));
}

}  // namespace opkit::ops::softmax
