#include "ops/conv/conv_depthwise_shared_vulkan.h"

#include <optional>

#include "engine/backend/vulkan/vulkan_execution.h"
#include "engine/base/divide.h"
#include "ops/conv/conv.h"
#include "ops/gemm/product_tiles_vulkan.h"
#include "shaders/conv/conv_depthwise_shared.h"

namespace opkit::ops::conv {
namespace {

using Shader = shaders::ConvDepthwiseShared;

constexpr int64_t kPatch = 3584;  // as in the shader: 16 KiB of shared memory with the weights
constexpr int64_t kWeights = 512;
constexpr int64_t kGroup = 128;
constexpr int64_t kBanks = 32;  // of shared memory, 4 bytes wide

/// The least number from `least` on that leaves `rest` when divided by the number of banks.
int64_t inBank(int64_t least, int64_t rest) { return least + ((rest - least) % kBanks + kBanks) % kBanks; }

// The outputs of a work group, and where their patch of the input lies in shared memory.
struct Tile {
  int64_t planes = 1;
  int64_t rows = 1;
  int64_t columns = 1;
  int64_t subRows = 0;
  int64_t subColumns = 0;
  int64_t pitch = 0;
  int64_t planePitch = 0;

  bool fits(int64_t taps) const { return planes * planePitch <= kPatch && planes * (taps + 1) <= kWeights; }
  int64_t outputs() const { return planes * rows * columns; }
};

Tile tileWith(int64_t planes, int64_t rows, int64_t columns, const std::vector<WindowAxis>& axes) {
  const WindowAxis &high = axes[0], &wide = axes[1];
  Tile tile{planes, rows, columns};
  tile.subRows = rows + (high.kernel - 1) * high.dilation / high.stride;
  tile.subColumns = columns + (wide.kernel - 1) * wide.dilation / wide.stride;
  // With a stride of 2, neighbours of the input go to two halves of a row: 16 banks apart, one more if the first is
  // odd.
  if (wide.stride == 2 && columns >= kBanks / 2)
    tile.subColumns = inBank(tile.subColumns, kBanks / 2 + wide.padBegin % 2);
  tile.pitch = inBank(wide.stride * tile.subColumns, columns);
  tile.planePitch = inBank(high.stride * tile.subRows * tile.pitch, rows * columns);
  return tile;
}

int64_t planesOf(const ConvPlan& plan) { return plan.batch * plan.groups * plan.groupOutputs; }

int64_t groupsOf(const Tile& tile, const ConvPlan& plan, const std::vector<WindowAxis>& axes) {
  return ceilDiv(axes[0].output, tile.rows) * ceilDiv(axes[1].output, tile.columns) *
         ceilDiv(planesOf(plan), tile.planes);
}

// In arbitrary units: elements read and written, idle compute units and idle invocations.
double estimate(const Tile& tile, const ConvPlan& plan, const std::vector<WindowAxis>& axes, int64_t groupsToFill) {
  const auto extent = [](const WindowAxis& axis, int64_t outputs) {
    return std::min((outputs - 1) * axis.stride + (axis.kernel - 1) * axis.dilation + 1, axis.input);
  };
  const int64_t groups = groupsOf(tile, plan, axes);
  const int64_t moved = extent(axes[0], tile.rows) * extent(axes[1], tile.columns) + tile.outputs();
  const double filled = std::min(static_cast<double>(groups) / static_cast<double>(groupsToFill), 1.0);
  const double busy = std::min(static_cast<double>(tile.outputs()) / static_cast<double>(kGroup), 1.0);
  return static_cast<double>(groups * moved) / filled / busy;
}

// Nothing if not even one output's patch fits.
std::optional<Tile> tileOf(const ConvPlan& plan, const DeviceCaps& device) {
  const std::vector<WindowAxis> axes = padWindowRank(plan.axes, 2);
  const int64_t groupsToFill = device.deviceClass->groupsToFill;
  std::optional<Tile> best;
  for (const int64_t columns : {axes[1].output, int64_t{128}, int64_t{64}, int64_t{32}, int64_t{8}, int64_t{1}})
    for (int64_t rows = 1; rows <= axes[0].output && columns <= axes[1].output; ++rows) {
      const Tile tile = tileWith(1, rows, columns, axes);
      if (!tile.fits(plan.kernelTaps())) break;
      if (!best || estimate(tile, plan, axes, groupsToFill) < estimate(*best, plan, axes, groupsToFill)) best = tile;
    }
  // Several small planes, if invocations or work groups abound.
  while (best && plan.groupOutputs == 1 && best->rows == axes[0].output && best->columns == axes[1].output) {
    const Tile twice = tileWith(best->planes * 2, best->rows, best->columns, axes);
    const bool wanted =
        best->outputs() < kGroup / 2 || (best->outputs() < 2 * kGroup && groupsOf(twice, plan, axes) >= groupsToFill);
    if (!wanted || best->planes >= planesOf(plan) || !twice.fits(plan.kernelTaps())) break;
    best = twice;
  }
  return best;
}

class ConvDepthwiseShared final : public vulkan::VulkanExecution {
 public:
  ConvDepthwiseShared(const CreateArgs& args, Backend& backend)
      : VulkanExecution(backend), params_(args.params<ConvParams>()) {}

  Status onEncode(TensorList inputs, TensorList outputs, vulkan::Encoder& encoder) override {
    const Tensor &x = *inputs[0], &w = *inputs[1], &y = *outputs[0];
    const Tensor* bias = has(inputs, 2) ? inputs[2] : nullptr;
    OPKIT_ASSIGN(const ConvPlan plan, planConv(params_, x.desc.shape, w.desc.shape, nullptr));
    if (y.desc.elements() == 0) return Status::ok();
    const std::optional<Tile> tile = tileOf(plan, encoder.caps());
    OPKIT_CHECK(tile);
    const std::vector<WindowAxis> axes = padWindowRank(plan.axes, 2);
    Shader::PushConstants push{.planes = planesOf(plan),
                               .channels = plan.groups * plan.groupOutputs,
                               .multiplier = plan.groupOutputs,
                               .tilePlanes = tile->planes,
                               .tile = {tile->rows, tile->columns},
                               .subRows = tile->subRows,
                               .subColumns = tile->subColumns,
                               .pitch = tile->pitch,
                               .planePitch = tile->planePitch,
                               .hasBias = bias ? 1 : 0,
                               .low = params_.clamp_low,
                               .high = params_.clamp_high};
    packWindow(axes, push);
    return encoder.dispatch<Shader>({*Shader::storageOf(y.desc.dtype)},
                                    {.x = &x, .w = &w, .bias = bias ? bias : &w, .y = &y}, push,
                                    gemm::spreadGroups(groupsOf(*tile, plan, axes), 1));
  }

 private:
  ConvParamsT params_;
};

Status supports(const CreateArgs& args) {
  const Shape &x = args.input(0).shape, &w = args.input(1).shape;
  const DeviceClass& deviceClass = *args.device.deviceClass;
  if (deviceClass.largestProductTile == 0)
    return Status::unsupported("Conv: class {} convolves channels without shared memory", deviceClass.name);
  if (x.size() > 4) return Status::unsupported("Conv: depthwise takes 1 or 2 spatial axes, got {}", x.size() - 2);
  if (w[1] != 1) return Status::unsupported("Conv: depthwise takes 1 input channel per group, got {}", w[1]);
  OPKIT_TRY(vulkan::requireStorage<Shader>(args, args.outputs[0].dtype));
  if (args.outputs[0].elements() == 0 || elementCount(x) == 0)
    return Status::unsupported("Conv: depthwise in shared memory takes tensors with elements");
  OPKIT_ASSIGN(const ConvPlan plan, planConv(args.params<ConvParams>(), x, w, nullptr));
  const std::optional<Tile> tile = tileOf(plan, args.device);
  if (!tile)
    return Status::unsupported("Conv: the input under one output exceeds {} elements of shared memory", kPatch);
  const std::vector<WindowAxis> axes = padWindowRank(plan.axes, 2);
  return vulkan::requireLoops(
      args, 2 * vulkan::loopPasses({kPatch / kGroup + 1}) + vulkan::loopPasses({kWeights / kGroup}) +
                vulkan::loopPasses({ceilDiv(tile->outputs(), kGroup) + 1, axes[0].kernel, axes[1].kernel}));
}

}  // namespace

Creator depthwiseSharedCreator() {
  return vulkan::creatorOf<ConvDepthwiseShared>(supports, Layout::NCHW, "depthwise shared");
}

}  // namespace opkit::ops::conv
