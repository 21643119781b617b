#include <bit>
#include <cstring>

#include "engine/backend/vulkan/vulkan_execution.h"
#include "engine/op/op_registry.h"
#include "ops/resize/resample_plan.h"
#include "ops/resize/resize_parts.h"
#include "shaders/resize/resample.h"
#include "shaders/resize/resample_nearest.h"

namespace opkit::ops::resize {
namespace {

using Nearest = shaders::ResampleNearest;
using Sums = shaders::Resample;

constexpr size_t kAxes = 6;                // of the shaders
constexpr size_t kPlane = 2;               // axes that the shaders always walk
constexpr int64_t kFewTaps = 4;            // along the last axis, kept in registers
constexpr int64_t kInvocations = 1 << 16;  // that fill a device
constexpr int64_t kMostRows = 8;           // of one invocation

/// The words of one weight.
enum class Weights { None, Floats, Doubles };

/// Positions, then weights; of doubles all low words, then all high words. Of each, the first taps of all outputs come
/// first.
void pack(const Taps& axis, Weights weights, std::vector<uint32_t>& words) {
  const auto each = [&](const auto& wordOf) {
    for (int64_t t = 0; t < axis.count; ++t)
      for (int64_t o = 0; o < axis.outputs; ++o) words.push_back(wordOf(axis.of(o)[static_cast<size_t>(t)]));
  };
  each([](const Tap& tap) { return static_cast<uint32_t>(tap.at); });
  if (weights == Weights::Floats)
    each([](const Tap& tap) { return std::bit_cast<uint32_t>(static_cast<float>(tap.weight)); });
  if (weights != Weights::Doubles) return;
  each([](const Tap& tap) { return static_cast<uint32_t>(std::bit_cast<uint64_t>(tap.weight)); });
  each([](const Tap& tap) { return static_cast<uint32_t>(std::bit_cast<uint64_t>(tap.weight) >> 32); });
}

/// How a plan is spread over invocations.
struct Spread {
  std::vector<Taps> axes;  // kAxes of them
  uint32_t firstAxis;
  uint32_t rowsEach;
  int64_t invocations;
};

Spread spreadOf(const ResamplePlan& plan) {
  Spread spread{std::vector<Taps>(kAxes - plan.axes.size(), Taps{.list = {{0, 1}}}),
                static_cast<uint32_t>(kAxes - std::max(plan.axes.size(), kPlane)), 1, plan.outputs()};
  spread.axes.insert(spread.axes.end(), plan.axes.begin(), plan.axes.end());
  const int64_t rows = spread.axes[kAxes - kPlane].outputs;
  if (plan.outputs() == 0) return spread;
  int64_t each = std::clamp<int64_t>(plan.outputs() / kInvocations, 1, std::min(kMostRows, rows));
  spread.rowsEach = static_cast<uint32_t>(each);
  spread.invocations = plan.outputs() / rows * ((rows + each - 1) / each);
  return spread;
}

/// Fills the push constants of either shader; returns the table.
template <class Push>
std::vector<uint32_t> packPlan(const ResamplePlan& plan, const Spread& spread, Weights weights, Push& push) {
  std::vector<uint32_t> words;
  for (size_t d = 0; d < kAxes; ++d) {
    const Taps& axis = spread.axes[d];
    push.inputs[d] = axis.inputs;
    push.outputs[d] = axis.outputs;
    push.taps[d] = axis.count;
    push.first[d] = words.size();
    pack(axis, weights, words);
  }
  push.count = spread.invocations;
  push.inner = plan.inner;
  return words;
}

/// The value as the words of an element.
template <class Push>
void packOutside(float value, DType dtype, Push& push) {
  visitDType(dtype, [&](auto tag) {
    using T = decltype(tag);
    const T element = extrapolated<T>(value, dtype);
    uint32_t words[2] = {};
    std::memcpy(words, &element, sizeof(T));
    push.outside[0] = words[0];
    push.outside[1] = words[1];
  });
}

class NearestVulkan final : public vulkan::VulkanExecution {
 public:
  NearestVulkan(const CreateArgs& args, Backend& backend)
      : VulkanExecution(backend), params_(args.params<ResampleParams>()) {}

  Status onEncode(TensorList inputs, TensorList outputs, vulkan::Encoder& encoder) override {
    const TensorDesc& desc = inputs[0]->desc;
    if (outputs[0]->desc.elements() == 0) return Status::ok();
    const ResamplePlan plan = planResample(params_, desc.shape);
    const Spread spread = spreadOf(plan);
    Nearest::PushConstants push{};
    OPKIT_ASSIGN(const Tensor* table, encoder.table(packPlan(plan, spread, Weights::None, push)));
    packOutside(params_.extrapolation_value, desc.dtype, push);
    return encoder.dispatch<Nearest>(
        {*Nearest::wordOfBytes(sizeOf(desc.dtype))}, {.x = inputs[0], .table = table, .y = outputs[0]}, push,
        vulkan::Items{spread.invocations}, {.firstAxis = spread.firstAxis, .rowsEach = spread.rowsEach});
  }

 private:
  ResampleParamsT params_;
};

class SumsVulkan final : public vulkan::VulkanExecution {
 public:
  SumsVulkan(const CreateArgs& args, Backend& backend)
      : VulkanExecution(backend), params_(args.params<ResampleParams>()) {}

  Status onEncode(TensorList inputs, TensorList outputs, vulkan::Encoder& encoder) override {
    const TensorDesc& desc = inputs[0]->desc;
    if (outputs[0]->desc.elements() == 0) return Status::ok();
    const ResamplePlan plan = planResample(params_, desc.shape);
    const Spread spread = spreadOf(plan);
    const Weights weights = sumsInDouble(desc.dtype) ? Weights::Doubles : Weights::Floats;
    Sums::PushConstants push{};
    OPKIT_ASSIGN(const Tensor* table, encoder.table(packPlan(plan, spread, weights, push)));
    const int64_t columns = spread.axes.back().count;
    // The shader adds it as a sum, of whatever type the elements are.
    const bool isDouble = desc.dtype == DType::Float64;
    packOutside(params_.extrapolation_value, isDouble ? DType::Float64 : DType::Float32, push);
    return encoder.dispatch<Sums>({*Sums::storageOf(desc.dtype)}, {.x = inputs[0], .table = table, .y = outputs[0]},
                                  push, vulkan::Items{spread.invocations},
                                  {.firstAxis = spread.firstAxis,
                                   .rowsEach = spread.rowsEach,
                                   .columnTaps = columns <= kFewTaps ? static_cast<uint32_t>(columns) : 0});
  }

 private:
  ResampleParamsT params_;
};

Status supportsAxes(const CreateArgs& args, const ResamplePlan& plan) {
  if (plan.axes.size() <= kAxes) return Status::ok();
  return Status::unsupported("{}: the Vulkan kernel takes up to {} merged axes, got {}", args.def.type, kAxes,
                             plan.axes.size());
}

Status supportsNearest(const CreateArgs& args) {
  const auto params = args.params<ResampleParams>();
  if (params.mode != ResampleMode::Nearest)
    return Status::unsupported("{}: the kernel is for mode Nearest", args.def.type);
  return supportsAxes(args, planResample(params, args.input(0).shape));
}

/// Of the loops of an invocation of resample.comp.
int64_t passesOf(const Spread& spread) {
  constexpr int64_t kSearch = 9;  // for a kept sum of a row, and to keep one more
  int64_t walks = 1;
  for (size_t d = 0; d < kAxes - kPlane; ++d) walks *= spread.axes[d].count;
  const int64_t rows = spread.axes[kAxes - kPlane].count, columns = spread.axes.back().count;
  const int64_t ofPlane = rows * (columns + 2 + kSearch) + 1;
  const int64_t ofRow = walks * (ofPlane + static_cast<int64_t>(kAxes) + 1) + 1;
  const int64_t beginning = 5 * static_cast<int64_t>(kAxes);  // places, taps along the last axis, no kept row
  return beginning + spread.rowsEach * (ofRow + static_cast<int64_t>(kAxes) + 1) + 1;
}

Status supportsSums(const CreateArgs& args) {
  OPKIT_TRY(vulkan::requireStorage<Sums>(args, args.input(0).dtype));
  const ResamplePlan plan = planResample(args.params<ResampleParams>(), args.input(0).shape);
  OPKIT_TRY(supportsAxes(args, plan));
  const Spread spread = spreadOf(plan);
  return vulkan::requireLoops(args, passesOf(spread));
}

}  // namespace

void addVulkan(OpRegistry& registry) {
  registry.addCreator("vulkan", "Resample", vulkan::creatorOf<NearestVulkan>(supportsNearest, Layout::NCHW, "nearest"));
  registry.addCreator("vulkan", "Resample", vulkan::creatorOf<SumsVulkan>(supportsSums, Layout::NCHW, "sums"));
}

}  // namespace opkit::ops::resize
