#include "engine/backend/vulkan/vulkan_execution.h"
#include "engine/op/op_registry.h"
#include "ops/det/det_parts.h"
#include "shaders/det/det.h"

namespace opkit::ops::det {
namespace {

using Shader = shaders::Det;

constexpr int64_t kGroup = 64;
constexpr int64_t kBanks = 32;
constexpr int64_t kLaneBytes = 8;  // of shared memory, for the pivot that a lane found

/// How work groups take matrices of n x n.
struct Teams {
  int64_t team = kGroup;
  int64_t distance = 0;
  int64_t tileElements = 1;

  /// Matrices whose teams fill a group lie in shared memory; the smallest team is best, since it leaves no lane without
  /// columns. Neighbouring teams read neighbouring banks.
  static Teams of(int64_t n, uint32_t sharedBytes) {
    const int64_t fits = (int64_t{sharedBytes} - kGroup * kLaneBytes) / static_cast<int64_t>(sizeof(float));
    for (const int64_t team : {1, 8, 64}) {
      const int64_t step = team == 1 ? 2 : kBanks, distance = n * n + ((team - n * n) % step + step) % step;
      if (distance * (kGroup / team) <= fits) return {team, distance, distance * (kGroup / team)};
    }
    return {};
  }
};

int64_t extentOf(const TensorDesc& x) { return x.shape.back(); }

class DetVulkan final : public vulkan::VulkanExecution {
 public:
  DetVulkan(const CreateArgs&, Backend& backend) : VulkanExecution(backend) {}

  Status onEncode(TensorList inputs, TensorList outputs, vulkan::Encoder& encoder) override {
    const int64_t n = extentOf(inputs[0]->desc), matrices = outputs[0]->desc.elements();
    const Teams teams = Teams::of(n, encoder.caps().sharedBytes);
    const int64_t spaceElements = teams.tileElements > 1 ? 1 : matrices * n * n;
    OPKIT_ASSIGN(const Tensor* space, encoder.scratch({DType::Float32, {spaceElements}}));
    return encoder.dispatch<Shader>(
        {*Shader::storageOf(inputs[0]->desc.dtype)}, {.x = inputs[0], .y = outputs[0], .space = space},
        {.matrices = matrices, .extent = n, .distance = teams.distance}, vulkan::Items{matrices, teams.team},
        {.localSizeX = kGroup,
         .team = static_cast<uint32_t>(teams.team),
         .tileElements = static_cast<uint32_t>(teams.tileElements)});
  }
};

Status supports(const CreateArgs& args) {
  OPKIT_TRY(vulkan::requireStorage<Shader>(args, args.input(0).dtype));
  const int64_t n = extentOf(args.input(0));
  const int64_t team = Teams::of(n, args.device.sharedBytes).team, share = (n + team - 1) / team;
  const int64_t loading = n * n / team + 2, folding = team + 1;
  // Of each column: the search for a pivot, the swap and the elimination.
  const int64_t column = 2 * vulkan::loopPasses({share}) + folding + vulkan::loopPasses({n, share});
  return vulkan::requireLoops(args, loading + vulkan::loopPasses({n, column}));
}

}  // namespace

void addVulkan(OpRegistry& registry) { registry.addCreator("vulkan", "Det", vulkan::creatorOf<DetVulkan>(supports)); }

}  // namespace opkit::ops::det
