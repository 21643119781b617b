#include "engine/backend/vulkan/vulkan_execution.h"
#include "engine/op/op_registry.h"
#include "ops/non_max_suppression/non_max_suppression.h"
#include "ops/non_max_suppression/non_max_suppression_parts.h"
#include "shaders/non_max_suppression/non_max_suppression.h"

namespace opkit::ops::non_max_suppression {
namespace {

using Shader = shaders::NonMaxSuppression;

enum Stage : uint32_t { kSelect, kJoin };  // of the shader

constexpr int64_t kMostSteps = 256;  // boxes selected per dispatch, so that none runs for long

vulkan::RowWork selection(const Extents& extents, int64_t steps) {
  return {.rows = extents.rows(), .extent = extents.boxes, .passes = steps};
}

/// As many boxes per dispatch as the device's loops allow; at least one, which the encoder may refuse.
int64_t stepsOf(const Extents& extents, const DeviceCaps& device) {
  int64_t steps = std::min(extents.most, kMostSteps);
  const auto fits = [&] {
    const vulkan::RowWork work = selection(extents, steps);
    return vulkan::RowTeam::of(work, device).check(work, device, "").isOk();
  };
  while (steps > 1 && !fits()) steps /= 2;
  return steps;
}

class NonMaxSuppressionVulkan final : public vulkan::VulkanExecution {
 public:
  NonMaxSuppressionVulkan(const CreateArgs& args, Backend& backend)
      : VulkanExecution(backend), aroundCentre_(args.params<NonMaxSuppressionParams>().center_point_box) {}

  Status onEncode(TensorList inputs, TensorList outputs, vulkan::Encoder& encoder) override {
    const Extents extents = Extents::of(inputs[1]->desc.shape, outputs[0]->desc.shape);
    if (extents.rows() == 0 || extents.most == 0) return encoder.fillZero(*outputs[1]);
    const DType real = inputs[0]->desc.dtype;
    OPKIT_ASSIGN(const Tensor* left, encoder.scratch({DType::Float32, {extents.rows(), extents.boxes}}));
    OPKIT_ASSIGN(const Tensor* selected, encoder.scratch({DType::UInt32, {extents.rows(), extents.most}}));
    OPKIT_ASSIGN(const Tensor* found, encoder.scratch({DType::UInt32, {extents.rows()}}));
    const auto optional = [&](size_t i) { return has(inputs, i) ? inputs[i] : inputs[0]; };  // not read if absent
    const Shader::Bindings tensors{.boxes4 = inputs[0],
                                   .scores = inputs[1],
                                   .overlapLimit = optional(3),
                                   .scoreLimit = optional(4),
                                   .left = left,
                                   .selected = selected,
                                   .found = found,
                                   .indices = outputs[0],
                                   .count = outputs[1]};
    const Shader::Constants constants{
        .aroundCentre = aroundCentre_, .hasOverlapLimit = has(inputs, 3), .hasScoreLimit = has(inputs, 4)};
    const auto dispatch = [&](Stage stage, int64_t first, int64_t steps, const vulkan::RowWork& work) {
      Shader::Constants own = constants;
      own.stage = stage;
      return encoder.dispatch<Shader>({*Shader::storageOf(real)}, tensors,
                                      {.rows = extents.rows(),
                                       .classes = extents.classes,
                                       .boxCount = extents.boxes,
                                       .most = extents.most,
                                       .first = first,
                                       .steps = steps},
                                      work, own);
    };
    const int64_t steps = stepsOf(extents, encoder.caps());
    for (int64_t first = 0; first < extents.most; first += steps)
      OPKIT_TRY(dispatch(kSelect, first, std::min(steps, extents.most - first), selection(extents, steps)));
    return dispatch(kJoin, 0, 0,
                    {.rows = extents.rows(), .extent = std::max(extents.rows(), extents.most), .passes = 2});
  }

 private:
  bool aroundCentre_;
};

}  // namespace

void addVulkan(OpRegistry& registry) {
  registry.addCreator("vulkan", "NonMaxSuppression", vulkan::creatorOf<NonMaxSuppressionVulkan>(vulkan::takeAll));
}

}  // namespace opkit::ops::non_max_suppression
