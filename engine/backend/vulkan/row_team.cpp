#include <algorithm>
#include <bit>

#include "engine/backend/device_class.h"
#include "engine/backend/vulkan/vulkan_execution.h"

namespace opkit::vulkan {
namespace {

/// The team for the device's class.
uint32_t wantedTeam(const RowWork& work, const DeviceClass& device) {
  const int64_t mostRows = work.distance == 1 ? device.teamUpToRows : device.teamUpToColumns;
  if (work.extent < device.teamFromExtent || work.rows > mostRows) return 1;
  const int64_t shares = (work.extent + device.rowSteps - 1) / device.rowSteps;
  return static_cast<uint32_t>(std::min<uint64_t>(std::bit_ceil(static_cast<uint64_t>(shares)), device.largestTeam));
}

}  // namespace

int64_t RowTeam::iterations(const RowWork& work) const {
  const int64_t share = (work.extent + size * steps - 1) / (size * steps);
  const int64_t blocks = (work.extent + size * kBlock - 1) / (size * kBlock);
  const int64_t fold = size > 1 ? std::bit_width(size) : 0;
  return work.passes * (share + 1 + blocks + 1 + fold);
}

RowTeam RowTeam::of(const RowWork& work, const DeviceCaps& device) {
  const uint32_t most = std::min(RowTeam::kMost, std::bit_floor(device.workGroup));
  RowTeam team{.size = std::min(wantedTeam(work, *device.deviceClass), most), .steps = device.deviceClass->rowSteps};
  const auto isCutOff = [&] { return static_cast<uint64_t>(team.iterations(work)) > device.loopIterations; };
  while (team.size != most && isCutOff()) team.size *= 2;
  if (isCutOff()) team.steps = kMostSteps;
  team.localSize = std::max(std::min(device.deviceClass->rowGroup, most), team.size);
  return team;
}

Status RowTeam::check(const RowWork& work, const DeviceCaps& device, const char* shader) const {
  if (static_cast<uint64_t>(iterations(work)) <= device.loopIterations) return Status::ok();
  return Status::unsupportedByDevice(
      "{}: the device ends loops after {} iterations of an invocation, {} rows of {} need {}", shader,
      device.loopIterations, work.rows, work.extent, iterations(work));
}

}  // namespace opkit::vulkan
