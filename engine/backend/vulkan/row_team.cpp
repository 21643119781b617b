#include "engine/backend/vulkan/row_team.h"

#include <algorithm>
#include <bit>

namespace opkit::vulkan {
namespace {

constexpr uint32_t kLocalSize = 64;

/// The team that suits the device when nothing limits it.
uint32_t wantedTeam(const RowWork& work, const DeviceCaps& device) {
  // A team pays off when one invocation would have much to walk and the rows alone do not fill the device.
  constexpr int64_t kLong = 256, kFew = 4096;
  return work.extent >= kLong && work.rows <= kFew ? std::min(kLocalSize, device.workGroup) : 1;
}

}  // namespace

int64_t RowTeam::iterations(const RowWork& work) const {
  const int64_t share = (work.extent + size * kSteps - 1) / (size * kSteps);
  const int64_t fold = size > 1 ? std::bit_width(size) : 0;
  return work.passes * (share + fold);
}

RowTeam rowTeamFor(const RowWork& work, const DeviceCaps& device) {
  RowTeam team{std::min(kLocalSize, device.workGroup), wantedTeam(work, device)};
  while (team.size<device.workGroup&& static_cast<uint64_t>(team.iterations(work))> device.loopIterations)
    team.size *= 2;
  team.localSize = std::max(team.localSize, team.size);
  return team;
}

Status requireRows(const CreateArgs& args, const RowWork& work) {
  return requireLoops(args, rowTeamFor(work, args.device).iterations(work));
}

}  // namespace opkit::vulkan
