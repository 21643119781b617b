// Pooling with inputs in shared memory, for devices that read memory by the sector (shaders/pool/pool_tile.comp).
#pragma once

#include <array>
#include <optional>

#include "engine/backend/vulkan/vulkan_execution.h"
#include "ops/pool/pool.h"
#include "shaders/pool/pool_tile.h"

namespace opkit::ops::pool {

/// The outputs of a work group, and the shared memory for the inputs of their windows.
struct PoolTile {
  std::array<int64_t, 3> block{1, 1, 1};
  int64_t planes = 1;
  int64_t lane = 1;      // columns of one remainder by the stride
  int64_t pitch = 1;     // of lines in the tile
  int64_t elements = 0;  // of shared memory
  int64_t groups = 0;
};

/// The tile for three axes. `isRepeated`: windows may be folded twice. Nothing if the device's class has no use for it,
/// or if the inputs of a few outputs do not fit.
std::optional<PoolTile> tileFor(int64_t planes, const std::vector<WindowAxis>& axes, const DeviceCaps& device,
                                bool isRepeated = false);

Status encodeTile(const PoolTile& tile, shaders::PoolTile::Mode mode, const PoolParamsT& params, int64_t planes,
                  const std::vector<WindowAxis>& axes, const Tensor& x, const Tensor& y, vulkan::Encoder& encoder);

}  // namespace opkit::ops::pool
