#include "engine/backend/device_class.h"

namespace opkit {
namespace {

constexpr DeviceClass kClasses[] = {
    {.name = "software",
     .prefersTexels = true,
     .prefersImages = true,
     .shortestRunBytes = 64,
     .tileGroup = 8,
     .sectorBytes = 0,
     .elementWidth = 1,
     .rowsPerGroup = 32,
     .rowGroup = 64,
     .rowSteps = 1,
     .teamFromExtent = 256,
     .largestTeam = 64,
     .teamUpToRows = 32,
     .teamUpToColumns = 32,
     .groupsToFill = 1,
     .largestProductTile = 0,
     .rowColumns = 1,
     .rowTileBytes = 0,
     .reason =
         "A processor's vector lanes run a few invocations in lockstep. Loads from storage buffers become scalar code, "
         "texel fetches vectorise. Groups start one after the other, barriers cost a switch of all invocations, and "
         "copies are memcpy."},
    {.name = "discrete",
     .prefersTexels = false,
     .prefersImages = false,
     .shortestRunBytes = size_t{64} << 10,
     .tileGroup = 32,
     .sectorBytes = 32,
     .elementWidth = 4,
     .rowsPerGroup = 1,
     .rowGroup = 128,
     .rowSteps = 4,
     .teamFromExtent = 8,
     .largestTeam = 256,
     .teamUpToRows = INT64_MAX,
     .teamUpToColumns = 16384,
     .groupsToFill = 528,
     .largestProductTile = 128,
     .rowColumns = 32,
     .rowTileBytes = 32 << 10,
     .reason =
         "Memory is read by the sector: the invocations of a subgroup shall read neighbours, so a team walks even a "
         "short row, and rows stay in shared memory between passes. Four groups of 256 on each of 132 compute units "
         "fill "
         "the device. Products read memory once per tile, which shared memory feeds to all invocations. Copy commands "
         "of "
         "short runs are slow."},
    {.name = "integrated",
     .prefersTexels = false,
     .prefersImages = false,
     .shortestRunBytes = size_t{64} << 10,
     .tileGroup = 32,
     .sectorBytes = 64,
     .elementWidth = 4,
     .rowsPerGroup = 4,
     .rowGroup = 64,
     .rowSteps = 4,
     .teamFromExtent = 16,
     .largestTeam = 128,
     .teamUpToRows = INT64_MAX,
     .teamUpToColumns = 4096,
     .groupsToFill = 64,
     .largestProductTile = 64,
     .rowColumns = 32,
     .rowTileBytes = 16 << 10,
     .reason = "As discrete, with fewer compute units, smaller work groups and a cache that it shares with the host."},
};

}  // namespace

std::span<const DeviceClass> deviceClasses() { return kClasses; }

Result<const DeviceClass*> deviceClassNamed(const std::string& name) {
  for (const DeviceClass& known : kClasses)
    if (name == known.name) return &known;
  return Status::invalidArgument("device class: expected software, discrete or integrated, got '{}'", name);
}

}  // namespace opkit
