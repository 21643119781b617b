#include "engine/backend/device_class.h"
#include "engine/backend/vulkan/vulkan_execution.h"
#include "engine/op/op_registry.h"
#include "ops/attention/attention.h"
#include "shaders/attention/attention.h"

namespace opkit::ops::attention {
namespace {

using Shader = shaders::Attention;

// Of the shader: invocations of a group, keys of a block, and elements of a key that are staged at once.
constexpr int64_t kLanes = 64, kKeys = 256, kStep = 16;
constexpr int64_t kFarthest = 1 << 29;  // a window this wide holds every key

/// How the queries of a node are divided over work groups.
struct Work {
  int64_t units = 1;  // of four rows in a group
  int64_t width = 1;  // elements loaded at once
  int64_t columnLanes = 1;
  int64_t blocks = 1, slices = 1, groups = 1;
  bool staged = false;
};

/// Whether heads begin at multiples of four elements.
bool isAligned(const Heads& heads) {
  return heads.size % 4 == 0 && heads.batchStride % 4 == 0 && heads.headStride % 4 == 0 && heads.tokenStride % 4 == 0;
}

Work workOf(const AttentionPlan& plan, const DeviceClass& device) {
  Work work;
  work.staged = device.rowTileBytes > 0;
  work.width = isAligned(plan.k) && isAligned(plan.v) ? 4 : 1;
  const int64_t columns = (plan.v.size + work.width - 1) / work.width;
  while (work.columnLanes < std::min(columns, kLanes)) work.columnLanes *= 2;
  work.slices = (columns + work.columnLanes - 1) / work.columnLanes;
  const int64_t heads = plan.q.batch * plan.k.heads * work.slices, twoUnits = (plan.rows() + 7) / 8;
  if (plan.rows() > 4 && (!work.staged || heads * twoUnits >= device.groupsToFill)) work.units = 2;
  work.blocks = (plan.rows() + work.units * 4 - 1) / (work.units * 4);
  work.groups = heads * work.blocks;
  return work;
}

Shader::PushConstants pushOf(const AttentionPlan& plan, const Work& work) {
  Shader::PushConstants push{.groups = work.groups,
                             .tokens = plan.q.tokens,
                             .keys = plan.k.tokens,
                             .values = plan.v.size,
                             .rows = plan.rows(),
                             .group = plan.group,
                             .heads = plan.k.heads,
                             .blocks = work.blocks,
                             .slices = work.slices,
                             .qStrides = {plan.q.batchStride, plan.q.headStride, plan.q.tokenStride},
                             .kStrides = {plan.k.batchStride, plan.k.headStride, plan.k.tokenStride},
                             .vStrides = {plan.v.batchStride, plan.v.headStride, plan.v.tokenStride},
                             .yStrides = {plan.y.batchStride, plan.y.headStride, plan.y.tokenStride},
                             .left = std::clamp<int64_t>(plan.left, -1, kFarthest),
                             .right = std::clamp<int64_t>(plan.right, -1, kFarthest),
                             .past = plan.past,
                             .scale = static_cast<float>(plan.scale),
                             .softcap = plan.softcap};
  if (plan.mask) {
    const int64_t strides[] = {plan.mask->batch, plan.mask->head, plan.mask->query, plan.mask->key};
    for (size_t d = 0; d < 4; ++d) push.maskStrides[d] = strides[d];
    push.maskKeys = plan.mask->keys;
  }
  return push;
}

Result<AttentionPlan> planOf(const FusedAttentionParamsT& params, const Shape& q, const Shape& k, const Shape& v,
                             const TensorDesc* mask) {
  return planAttention(params, q, k, v, mask ? &mask->shape : nullptr);
}

class AttentionVulkan final : public vulkan::VulkanExecution {
 public:
  AttentionVulkan(const CreateArgs& args, Backend& backend)
      : VulkanExecution(backend), params_(args.params<FusedAttentionParams>()) {}

  Status onEncode(TensorList inputs, TensorList outputs, vulkan::Encoder& encoder) override {
    const Tensor& y = *outputs[0];
    if (y.desc.elements() == 0) return Status::ok();
    const bool hasMask = has(inputs, kMask), hasLengths = has(inputs, kLengths), hasSink = has(inputs, kSink);
    OPKIT_ASSIGN(const AttentionPlan plan, planOf(params_, inputs[kQ]->desc.shape, inputs[kK]->desc.shape,
                                                  inputs[kV]->desc.shape, hasMask ? &inputs[kMask]->desc : nullptr));
    if (plan.k.tokens == 0) return encoder.fillZero(y);
    const Work work = workOf(plan, *encoder.caps().deviceClass);
    const bool isBool = hasMask && inputs[kMask]->desc.dtype == DType::Bool;
    const Shader::Variant variant{*Shader::storageOf(y.desc.dtype), isBool ? Shader::Bools::V1 : Shader::Bools::V0,
                                  work.units == 2 ? Shader::Units::V2 : Shader::Units::V1,
                                  work.width == 4 ? Shader::Width::V4 : Shader::Width::V1};
    return encoder.dispatch<Shader>(variant,
                                    {.q = inputs[kQ],
                                     .k = inputs[kK],
                                     .v = inputs[kV],
                                     .mask = hasMask ? inputs[kMask] : inputs[kQ],
                                     .lengths = hasLengths ? inputs[kLengths] : inputs[kQ],
                                     .sink = hasSink ? inputs[kSink] : inputs[kQ],
                                     .y = &y},
                                    pushOf(plan, work), vulkan::Groups::linear(work.groups, 1),
                                    {.headSize = static_cast<uint32_t>(plan.q.size),
                                     .hasMask = hasMask,
                                     .hasLengths = hasLengths,
                                     .staged = work.staged,
                                     .tileElements = static_cast<uint32_t>(work.staged ? kKeys * kStep : 1),
                                     .lanesOfColumns = static_cast<uint32_t>(work.columnLanes),
                                     .hasSink = hasSink});
  }

 private:
  FusedAttentionParamsT params_;
};

Status supports(const CreateArgs& args) {
  OPKIT_TRY(vulkan::requireStorage<Shader>(args, args.outputs[0].dtype));
  const TensorDesc* mask = args.inputs.size() > kMask ? args.inputs[kMask] : nullptr;
  OPKIT_ASSIGN(const AttentionPlan plan, planOf(args.params<FusedAttentionParams>(), args.input(kQ).shape,
                                                args.input(kK).shape, args.input(kV).shape, mask));
  constexpr int64_t kMostRows = 8;
  const Work work = workOf(plan, *args.device.deviceClass);
  const int64_t adjusting = vulkan::loopPasses({kKeys / kLanes, kMostRows}), folding = 16;
  const int64_t walk = 2 * plan.q.size + adjusting + folding + vulkan::loopPasses({kKeys * work.columnLanes / kLanes});
  const int64_t loading = vulkan::loopPasses({(kMostRows * plan.q.size + kLanes - 1) / kLanes});
  // At the end each row's sums are folded, lane by lane, and the totals over the team.
  const int64_t end = vulkan::loopPasses({kMostRows, kLanes / static_cast<int64_t>(work.columnLanes)}) + folding;
  const int64_t blocks = (plan.k.tokens + kKeys - 1) / kKeys;
  return vulkan::requireLoops(args,
                              vulkan::loopPasses({blocks, walk}) + loading + vulkan::loopPasses({kMostRows}) + end);
}

}  // namespace

void addVulkan(OpRegistry& registry) {
  registry.addCreator("vulkan", "FusedAttention", vulkan::creatorOf<AttentionVulkan>(supports));
}

}  // namespace opkit::ops::attention
