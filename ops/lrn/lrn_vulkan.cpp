#include "engine/backend/vulkan/vulkan_execution.h"
#include "engine/op/op_registry.h"
#include "ops/lrn/lrn.h"
#include "shaders/lrn/lrn.h"
#include "shaders/lrn/lrn_rows.h"

namespace opkit::ops::lrn {
namespace {

using Shader = shaders::Lrn;

/// The window of every element is a separate row.
vulkan::RowWork workOf(const LrnParamsT& params, const TensorDesc& x) {
  const LrnPlan plan = planLrn(params, x.shape);
  return {
      .rows = x.elements(), .extent = std::min(plan.channels, plan.before + 1 + plan.after), .distance = plan.inner};
}

/// The channels of every position are a row, which shared memory keeps while windows are read from it.
vulkan::RowWork rowsOf(const LrnPlan& plan, DType dtype) {
  return vulkan::RowWork{.rows = plan.channels > 0 ? plan.batch * plan.inner : 0,
                         .extent = plan.channels,
                         .passes = plan.before + 1 + plan.after,  // at most: each element reads its window
                         .distance = plan.inner,
                         .elementBytes = static_cast<int64_t>(sizeOf(dtype))}
      .keeping();
}

bool keepsRows(const LrnPlan& plan, DType dtype, const DeviceCaps& device) {
  constexpr int64_t kLongestWindow = 64;  // whose plain sum is exact enough
  constexpr int64_t kSector = 8;          // floats: fewer neighbours would store by parts of sectors
  if (plan.before + 1 + plan.after > kLongestWindow || plan.inner < kSector) return false;
  const vulkan::RowTeam team = vulkan::RowTeam::of(rowsOf(plan, dtype), device);
  return team.keeps != vulkan::RowTeam::Keeps::Nothing && team.check(rowsOf(plan, dtype), device, "lrn_rows").isOk();
}

Status supports(const CreateArgs& args) {
  constexpr int64_t kMostReads = int64_t{1} << 31;
  const vulkan::RowWork work = workOf(args.params<LrnParams>(), args.input(0));
  if (work.extent > 0 && work.rows > kMostReads / work.extent)
    return Status::unsupported("{}: the Vulkan kernel would read {} windows of {}; the CPU shares their sums",
                               args.def.type, work.rows, work.extent);
  return vulkan::requireStorage<Shader>(args, args.outputs[0].dtype);
}

class LrnVulkan final : public vulkan::VulkanExecution {
 public:
  LrnVulkan(const CreateArgs& args, Backend& backend) : VulkanExecution(backend), params_(args.params<LrnParams>()) {}

  Status onEncode(TensorList inputs, TensorList outputs, vulkan::Encoder& encoder) override {
    const LrnPlan plan = planLrn(params_, inputs[0]->desc.shape);
    if (keepsRows(plan, outputs[0]->desc.dtype, encoder.caps()))
      return encodeRows(plan, *inputs[0], *outputs[0], encoder);
    const vulkan::RowWork work = workOf(params_, inputs[0]->desc);
    return encoder.dispatch<Shader>({*Shader::storageOf(outputs[0]->desc.dtype)}, {.x = inputs[0], .y = outputs[0]},
                                    {.count = work.rows,
                                     .channels = plan.channels,
                                     .inner = plan.inner,
                                     .before = plan.before,
                                     .after = plan.after,
                                     .scale = params_.alpha / static_cast<float>(params_.size),
                                     .beta = params_.beta,
                                     .bias = params_.bias},
                                    work);
  }

 private:
  Status encodeRows(const LrnPlan& plan, const Tensor& x, const Tensor& y, vulkan::Encoder& encoder) const {
    using Rows = shaders::LrnRows;
    const vulkan::RowWork work = rowsOf(plan, y.desc.dtype);
    return encoder.dispatch<Rows>({*Rows::storageOf(y.desc.dtype)}, {.x = &x, .y = &y},
                                  {.rows = work.rows,
                                   .channels = plan.channels,
                                   .inner = plan.inner,
                                   .before = plan.before,
                                   .after = plan.after,
                                   .scale = params_.alpha / static_cast<float>(params_.size),
                                   .beta = params_.beta,
                                   .bias = params_.bias},
                                  work);
  }

  LrnParamsT params_;
};

}  // namespace

void addVulkan(OpRegistry& registry) { registry.addCreator("vulkan", "LRN", vulkan::creatorOf<LrnVulkan>(supports)); }

}  // namespace opkit::ops::lrn
