// Device classes: the figures by which kernels are chosen on devices of one kind, as data with reasons.
//
// A device belongs to one class; --device-class (RuntimeOptions::deviceClass) selects another, so that the choices for
// a GPU can be tested on a software device. Limits and features stay the device's own (DeviceCaps).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "engine/base/status.h"

namespace opkit {

struct DeviceClass {
  const char* name;
  // Load vec4s through texel buffers (shaders/include/read4.glsl), keep activations in images of four channels.
  bool prefersTexels;
  bool prefersImages;
  // Bytes from which a copy command moves a run faster than a shader does.
  size_t shortestRunBytes;
  // Invocations of a work group in which each invocation computes a tile of a product or a convolution.
  uint32_t tileGroup;
  // Bytes that memory moves at once. Regions whose sides run along different dimensions go through tiles in shared
  // memory (vulkan::planTiles), so that both sides use whole sectors. 0: caches make up for scattered accesses.
  uint32_t sectorBytes;
  // Neighbouring elements that an invocation of an elementwise kernel computes where it can load them as one vector
  // (vulkan::Elements): 1 or 4.
  uint32_t elementWidth;
  // Rows of a plane that one work group of a copying kernel walks.
  uint32_t rowsPerGroup;
  // Rows (vulkan::RowTeam): invocations of a work group; elements per pass of a loop; the shortest row that a team
  // walks; the largest team; the most rows that use teams, for contiguous and for strided rows.
  uint32_t rowGroup;
  uint32_t rowSteps;
  int64_t teamFromExtent;
  uint32_t largestTeam;
  int64_t teamUpToRows;
  int64_t teamUpToColumns;
  // Work groups that fill the device.
  int64_t groupsToFill;
  // Products and convolutions: the most rows and columns of a tile that a work group computes from tiles of both
  // operands in shared memory; 0: none, an invocation's registers hold the tile.
  int64_t largestProductTile;
  // Neighbouring strided rows whose teams lie side by side, so that neighbouring invocations read neighbouring
  // addresses; bytes of shared memory in which a group keeps its rows between passes, 0 if caches do.
  uint32_t rowColumns;
  uint32_t rowTileBytes;
  const char* reason;
};

/// "software", "discrete" and "integrated".
std::span<const DeviceClass> deviceClasses();
/// InvalidArgument lists the names.
Result<const DeviceClass*> deviceClassNamed(const std::string& name);

}  // namespace opkit
