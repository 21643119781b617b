#include "engine/backend/vulkan/row_split.h"
#include "engine/op/op_registry.h"
#include "ops/arg_reduce/arg_reduce.h"
#include "shaders/arg_reduce/arg_reduce.h"

namespace opkit::ops::arg_reduce {
namespace {

using Shader = shaders::ArgReduce;

enum Stage : uint32_t { kWhole, kParts, kJoin };  // of the shader

vulkan::RowWork workOf(const ArgReduceParamsT& params, const TensorDesc& x) {
  const Rows rows = rowsOf(params, x.shape);
  const vulkan::RowWork work{.rows = rows.outer * rows.inner,
                             .extent = rows.extent,
                             .distance = rows.inner,
                             .elementBytes = static_cast<int64_t>(sizeOf(x.dtype))};
  return work.keeping(static_cast<int64_t>(sizeOf(vulkan::arithmeticOf(x.dtype))));
}

class ArgReduceVulkan final : public vulkan::VulkanExecution {
 public:
  ArgReduceVulkan(const CreateArgs& args, Backend& backend)
      : VulkanExecution(backend), params_(args.params<ArgReduceParams>()), smallest_(args.def.type == "ArgMin") {}

  Status onEncode(TensorList inputs, TensorList outputs, vulkan::Encoder& encoder) override {
    const Tensor &x = *inputs[0], &y = *outputs[0];
    const vulkan::RowWork work = workOf(params_, x.desc);
    const vulkan::RowSplit split = vulkan::RowSplit::of(work, encoder.caps());
    if (!split.isSplit()) return encodeStage(kWhole, work, split, {&x, &y, &y, &y}, encoder);
    OPKIT_ASSIGN(const Tensor* values, encoder.scratch({vulkan::arithmeticOf(x.desc.dtype), {split.parts, work.rows}}));
    OPKIT_ASSIGN(const Tensor* places, encoder.scratch({DType::UInt32, {split.parts, work.rows}}));
    const Shader::Bindings tensors{.x = &x, .y = &y, .partValues = values, .partPlaces = places};
    OPKIT_TRY(encodeStage(kParts, split.folding(work), split, tensors, encoder));
    return encodeStage(kJoin, split.joining(work), split, tensors, encoder);
  }

 private:
  Status encodeStage(Stage stage, const vulkan::RowWork& work, vulkan::RowSplit split, const Shader::Bindings& tensors,
                     vulkan::Encoder& encoder) const {
    const Rows rows = rowsOf(params_, tensors.x->desc.shape);
    const bool keeps = vulkan::RowTeam::of(work, encoder.caps()).keeps != vulkan::RowTeam::Keeps::Nothing;
    return encoder.dispatch<Shader>({*Shader::storageOf(tensors.x->desc.dtype)}, tensors,
                                    {.rows = rows.outer * rows.inner,
                                     .extent = rows.extent,
                                     .inner = rows.inner,
                                     .smallest = smallest_,
                                     .last = params_.select_last_index,
                                     .parts = split.parts,
                                     .partLength = split.length},
                                    work, {.keepsRows = keeps, .stage = stage});
  }

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
