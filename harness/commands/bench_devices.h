// `op-harness bench` measures each device before the cases: rates for the roofline, and its clock.
#pragma once

#include "engine/tools/device_peaks.h"
#include "harness/commands/commands.h"

namespace opkit::harness {

struct MeasuredDevices {
  std::map<std::string, DevicePeaks> peaks;  // by backend; the better of kernels and of plain shaders
  bool failed = false;                       // the clock of a device cannot be trusted
};

/// Prints and records a line for each lane. A wrong clock is a failed case `device clock`.
MeasuredDevices measureDevices(const std::vector<BackendLane>& lanes, const OpRegistry& registry, ResultFile& file);

}  // namespace opkit::harness
