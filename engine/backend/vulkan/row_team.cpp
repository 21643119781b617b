#include <algorithm>
#include <bit>

#include "engine/backend/device_class.h"
#include "engine/backend/vulkan/vulkan_execution.h"
#include "engine/base/divide.h"

namespace opkit::vulkan {
namespace {

constexpr uint32_t kTileUnit = 256;       // kTileUnit of rows.glsl
constexpr uint32_t kFoldBytes = 8 << 10;  // of shared memory: the parts of folds beside kept rows
constexpr int64_t kBlockElements = 2048;  // of a group that keeps short rows
constexpr uint32_t kSectorBytes = 32;     // of memory: what one access reads at least

uint32_t powerOfTwoFrom(int64_t value) {
  return static_cast<uint32_t>(std::bit_ceil(static_cast<uint64_t>(std::min<int64_t>(value, 1 << 30))));
}
/// Neighbouring rows that are neighbours in memory.
int64_t innerOf(const RowWork& work) { return std::max<int64_t>(1, std::abs(work.distance)); }

/// The largest work group, in invocations.
uint32_t mostOf(const DeviceCaps& device) { return std::min(RowTeam::kMost, std::bit_floor(device.workGroup)); }

/// Elements that a group can keep.
int64_t capacityOf(const RowWork& work, const DeviceCaps& device) {
  if (work.keptBytes == 0 || device.sharedBytes <= kFoldBytes) return 0;
  const uint32_t bytes = std::min(device.deviceClass->rowTileBytes, device.sharedBytes - kFoldBytes);
  return bytes / work.keptBytes / kTileUnit * kTileUnit;
}

/// Elements of shared memory for the kept blocks [extent, distance] of a group; slotOf of rows.glsl.
int64_t elementsOf(const RowWork& work, int64_t columns) {
  const int64_t inner = innerOf(work), period = work.extent * inner, spread = std::max<int64_t>(1, 32 / columns);
  const int64_t blocks = columns / inner;
  if (blocks == 1) return period;
  if (inner > 1) return blocks * (period + ((spread * inner - period) & 31));
  const int64_t padded = ceilDiv(work.extent, spread) * spread, factor = std::min<int64_t>(padded & -padded, 32);
  return blocks * padded + blocks * factor / 32 * spread;
}

int64_t tileFor(int64_t elements) {
  // Few sizes, so that few pipelines are made.
  const int64_t step = std::max<int64_t>(kTileUnit, std::bit_floor(static_cast<uint64_t>(elements)) / 4);
  return ceilDiv(elements, step) * step;
}

/// True if `team` with these columns can keep whole blocks; fills in the rest of it.
bool keepsBlocks(const RowWork& work, const DeviceCaps& device, uint32_t columns, RowTeam& team) {
  const int64_t blocks = columns / innerOf(work);
  const int64_t tile = tileFor(elementsOf(work, columns)), elements = blocks * work.extent * innerOf(work);
  if (tile > capacityOf(work, device)) return false;
  const uint32_t most = std::min(mostOf(device), device.deviceClass->largestTeam);
  const uint32_t wanted = powerOfTwoFrom(ceilDiv(elements, device.deviceClass->rowSteps));
  team.localSize = std::max(columns, std::clamp(wanted, std::min(64u, most), most));
  team.size = team.localSize / columns;
  team.columns = columns;
  team.keeps = RowTeam::Keeps::Blocks;
  team.tileElements = tile;
  return true;
}

/// Keeps whole blocks if one fits: several, unless groups were too few or too large.
bool chooseBlocks(const RowWork& work, const DeviceCaps& device, RowTeam& team) {
  const int64_t inner = innerOf(work), outer = work.rows / inner;
  const uint32_t most = std::min(mostOf(device), device.deviceClass->largestTeam);
  if (work.extent == 0 || inner > most || work.extent > capacityOf(work, device) / inner) return false;
  const uint32_t fewest = powerOfTwoFrom(inner);
  for (uint32_t columns = most; columns > fewest; columns /= 2) {
    const int64_t blocks = columns / inner;
    const bool suits =
        blocks * inner * work.extent <= kBlockElements && outer / blocks >= device.deviceClass->groupsToFill;
    if (suits && keepsBlocks(work, device, columns, team)) return true;
  }
  return keepsBlocks(work, device, fewest, team);
}

/// Invocations for one row, of the `most` that a group has for it.
uint32_t wantedTeam(const RowWork& work, const DeviceClass& device, uint32_t most) {
  const int64_t mostRows = work.distance == 1 ? device.teamUpToRows : device.teamUpToColumns;
  if (work.extent < device.teamFromExtent || work.rows > mostRows) return 1;
  const int64_t shares = ceilDiv(work.extent, device.rowSteps);
  return static_cast<uint32_t>(std::min<uint64_t>(powerOfTwoFrom(shares), most));
}

/// Fewest columns of which every access reads whole sectors; if rows begin within sectors, as many as a subgroup has
/// invocations, since only the ends of such a run are wasted.
uint32_t fewestColumns(const RowWork& work, const DeviceClass& figures) {
  const bool isAligned = innerOf(work) * work.elementBytes % kSectorBytes == 0;
  const auto perSector = static_cast<uint32_t>(std::max<int64_t>(1, kSectorBytes / work.elementBytes));
  return isAligned ? perSector : std::max(perSector, figures.rowColumns);
}

/// Neighbouring rows side by side: as many as a subgroup reads at once, fewer if groups would be too few.
uint32_t chooseColumns(const RowWork& work, const DeviceCaps& device) {
  const DeviceClass& figures = *device.deviceClass;
  const auto near = static_cast<uint32_t>(std::min<int64_t>(innerOf(work), figures.rowColumns));
  uint32_t columns = std::min(powerOfTwoFrom(near), mostOf(device));
  while (columns > fewestColumns(work, figures) && work.rows / columns < figures.groupsToFill) columns /= 2;
  return columns;
}

void chooseWalk(const RowWork& work, const DeviceCaps& device, RowTeam& team) {
  const DeviceClass& figures = *device.deviceClass;
  const uint32_t most = mostOf(device);
  uint32_t columns = chooseColumns(work, device);
  const int64_t capacity = capacityOf(work, device);
  // A second pass over memory costs more than sectors that are read in part.
  const uint32_t fewest = kSectorBytes / 4;
  while (work.passes > 1 && columns > fewest && capacity > 0 && work.extent * columns > capacity) columns /= 2;
  if (work.passes > 1 && innerOf(work) > 1 && columns > 1 && work.extent <= capacity / columns) {
    team.keeps = RowTeam::Keeps::Columns;
    team.tileElements = tileFor(work.extent * columns);
  }
  const uint32_t largest = std::max(columns, std::min(figures.largestTeam, most));
  team.columns = columns;
  team.size = wantedTeam(work, figures, largest / columns);
  if (team.keeps != RowTeam::Keeps::Nothing)  // few groups fit beside their tiles: large ones
    team.size = std::min(largest / columns, powerOfTwoFrom(work.extent));
}

}  // namespace

int64_t RowTeam::iterations(const RowWork& work) const {
  const int64_t share = ceilDiv(work.extent, static_cast<int64_t>(size) * steps);
  const int64_t blocks = ceilDiv(work.extent, size * kBlock);
  const int64_t fold = size > 1 ? std::bit_width(size) : 0;
  // Rows are loaded into shared memory and stored from there by all invocations of the group.
  const int64_t moves = keeps == Keeps::Nothing ? 0 : 2 * (ceilDiv(tileElements, localSize) + 2);
  const int64_t tiles = work.tileRun == 0 ? 0 : ceilDiv(work.extent, size * work.tileRun);
  return work.passes * (share + 1 + blocks + 1 + fold) + moves + tiles * (work.tilePasses + 1) + 1;
}

RowTeam RowTeam::of(const RowWork& work, const DeviceCaps& device) {
  const uint32_t most = mostOf(device);
  RowTeam team{.steps = device.deviceClass->rowSteps};
  const auto isCutOff = [&] { return static_cast<uint64_t>(team.iterations(work)) > device.loopIterations; };
  if (chooseBlocks(work, device, team)) {
    if (!isCutOff()) return team;
    team = {.steps = device.deviceClass->rowSteps};
  }
  chooseWalk(work, device, team);
  while (team.size * team.columns < most && isCutOff()) team.size *= 2;
  if (isCutOff()) team.steps = kMostSteps;
  team.localSize = std::max(std::min(device.deviceClass->rowGroup, most), team.size * team.columns);
  if (team.keeps != Keeps::Nothing) team.localSize = team.size * team.columns;  // one tile per group
  return team;
}

int64_t RowTeam::teams(const RowWork& work) const {
  if (keeps != Keeps::Blocks) return ceilDiv(work.rows, columns) * columns;
  const int64_t inner = innerOf(work);
  return ceilDiv(work.rows / inner, columns / inner) * columns;
}

uint32_t RowTeam::layoutWord() const {
  const auto units = static_cast<uint32_t>(ceilDiv(tileElements, kTileUnit));
  return steps | static_cast<uint32_t>(std::countr_zero(columns)) << 8 | static_cast<uint32_t>(keeps) << 12 |
         units << 16;
}

Status RowTeam::check(const RowWork& work, const DeviceCaps& device, const char* shader) const {
  if (static_cast<uint64_t>(iterations(work)) <= device.loopIterations) return Status::ok();
  return Status::unsupportedByDevice(
      "{}: the device ends loops after {} iterations of an invocation, {} rows of {} need {}", shader,
      device.loopIterations, work.rows, work.extent, iterations(work));
}

}  // namespace opkit::vulkan
