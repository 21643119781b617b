#include "ops/pool/pool_tile_vulkan.h"

#include <algorithm>

#include "engine/backend/device_class.h"
#include "engine/base/divide.h"

namespace opkit::ops::pool {
namespace {

using Shader = shaders::PoolTile;

constexpr int64_t kGroup = 256;  // local_size_x of the shader
constexpr int64_t kBanks = 32;
constexpr int64_t kFewestColumns = 32;     // of a block that does not have whole rows
constexpr int64_t kStep = 512;             // elements of shared memory: few sizes, so that few pipelines are made
constexpr uint32_t kMostBytes = 24 << 10;  // of shared memory, so that several groups run beside each other
constexpr int64_t kMostOutputs = 4096;     // of a group

/// Input positions that the windows of `outputs` neighbours cover.
int64_t spanOf(const WindowAxis& axis, int64_t outputs) {
  return (outputs - 1) * axis.stride + (axis.kernel - 1) * axis.dilation + 1;
}

/// Columns of one remainder by the stride. Those of neighbouring remainders begin in different banks, counted from the
/// first column that is no padding.
int64_t laneOf(const WindowAxis& axis, int64_t outputs) {
  const int64_t lane = ceilDiv(spanOf(axis, outputs), axis.stride);
  if (outputs < kBanks || axis.stride == 1 || kBanks % axis.stride != 0) return lane;
  const int64_t shift = kBanks / axis.stride + axis.padBegin % axis.stride;
  return lane + ((shift - lane) % kBanks + kBanks) % kBanks;
}

/// Words of a line: if few are wasted, so many that the banks of a row's first window follow those of the last window
/// of the row before.
int64_t pitchOf(const WindowAxis& rows, const WindowAxis& columns, int64_t outputs, int64_t lane) {
  const int64_t least = columns.stride * lane;
  for (int64_t pitch = least; pitch < least + std::min(kBanks, least / 3 + 1); ++pitch)
    if ((pitch * rows.stride - outputs) % kBanks == 0) return pitch;
  return least;
}

void measure(const std::vector<WindowAxis>& axes, PoolTile& tile) {
  tile.lane = laneOf(axes[2], tile.block[2]);
  tile.pitch = pitchOf(axes[1], axes[2], tile.block[2], tile.lane);
  tile.elements = tile.planes * spanOf(axes[0], tile.block[0]) * spanOf(axes[1], tile.block[1]) * tile.pitch;
}

bool fits(const PoolTile& tile, int64_t capacity) {
  return tile.elements <= capacity && tile.planes * tile.block[0] * tile.block[1] * tile.block[2] <= kMostOutputs;
}

/// How often inputs of neighbouring blocks are loaded along `axis`.
double overlap(const WindowAxis& axis, int64_t outputs) {
  return static_cast<double>(spanOf(axis, outputs)) / static_cast<double>(outputs * axis.stride);
}

/// Enlarges the block by an output, where inputs are shared best; false if it cannot grow.
bool grow(const std::vector<WindowAxis>& axes, int64_t planes, int64_t capacity, PoolTile& tile) {
  size_t order[2] = {1, 0};
  if (overlap(axes[0], tile.block[0]) > overlap(axes[1], tile.block[1])) std::swap(order[0], order[1]);
  for (const size_t d : order) {
    PoolTile larger = tile;
    if (++larger.block[d] > axes[d].output) continue;
    measure(axes, larger);
    if (!fits(larger, capacity)) continue;
    tile = larger;
    return true;
  }
  const bool isWhole =
      tile.block[0] == axes[0].output && tile.block[1] == axes[1].output && tile.block[2] == axes[2].output;
  PoolTile larger = tile;
  if (!isWhole || ++larger.planes > planes) return false;
  measure(axes, larger);
  if (!fits(larger, capacity / 2)) return false;  // planes share nothing: small groups do
  tile = larger;
  return true;
}

bool isCutOff(const PoolTile& tile, const std::vector<WindowAxis>& axes, const DeviceCaps& device, bool isRepeated) {
  const int64_t outputs = ceilDiv(tile.planes * tile.block[0] * tile.block[1] * tile.block[2] + 31, kGroup);
  const int64_t taps = vulkan::loopPasses({axes[0].kernel, axes[1].kernel, axes[2].kernel});
  int64_t passes = isRepeated ? 2 * taps : taps;
  for (const WindowAxis& axis : axes) passes += vulkan::loopPasses({axis.kernel});
  const int64_t all = ceilDiv(tile.elements + 31, kGroup) + 1 + outputs * (passes + 1) + 1;
  return static_cast<uint64_t>(all) > device.loopIterations;
}

}  // namespace

std::optional<PoolTile> tileFor(int64_t planes, const std::vector<WindowAxis>& axes, const DeviceCaps& device,
                                bool isRepeated) {
  const int64_t bytes = std::min({device.deviceClass->rowTileBytes, device.sharedBytes, kMostBytes});
  const int64_t capacity = bytes / 4 / kStep * kStep;
  if (capacity == 0 || device.workGroup < kGroup || planes == 0) return std::nullopt;
  for (const WindowAxis& axis : axes)
    if (axis.output <= 0 || axis.input <= 0) return std::nullopt;
  PoolTile tile;
  tile.block[2] = axes[2].output;
  measure(axes, tile);
  while (!fits(tile, capacity / 2) && tile.block[2] > kFewestColumns) {
    tile.block[2] = ceilDiv(tile.block[2], 2);
    measure(axes, tile);
  }
  if (!fits(tile, capacity)) return std::nullopt;
  while (grow(axes, planes, capacity, tile)) {
  }
  for (size_t d = 0; d < 2; ++d)  // blocks of equal size
    tile.block[d] = ceilDiv(axes[d].output, ceilDiv(axes[d].output, tile.block[d]));
  measure(axes, tile);
  if (isCutOff(tile, axes, device, isRepeated)) return std::nullopt;
  tile.groups = ceilDiv(planes, tile.planes);
  for (size_t d = 0; d < 3; ++d) tile.groups *= ceilDiv(axes[d].output, tile.block[d]);
  return tile;
}

Status encodeTile(const PoolTile& tile, Shader::Mode mode, const PoolParamsT& params, int64_t planes,
                  const std::vector<WindowAxis>& axes, const Tensor& x, const Tensor& y, vulkan::Encoder& encoder) {
  Shader::PushConstants push{.planes = planes, .countPadding = params.count_include_pad ? 1u : 0u, .power = params.p};
  packWindow(axes, push);
  for (size_t d = 0; d < 3; ++d) push.block[d] = tile.block[d];
  push.blockPlanes = tile.planes;
  push.lane = tile.lane;
  push.pitch = tile.pitch;
  const auto elements = static_cast<uint32_t>(ceilDiv(tile.elements, kStep) * kStep);
  return encoder.dispatch<Shader>({*Shader::storageOf(y.desc.dtype), mode}, {.x = &x, .y = &y}, push,
                                  vulkan::Items{tile.groups, kGroup}, {.tileElements = elements});
}

}  // namespace opkit::ops::pool
