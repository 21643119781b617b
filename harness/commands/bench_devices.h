// `op-harness bench` measures each device before the cases: rates for the roofline, and its clock.
#pragma once

#include "engine/tools/device_peaks.h"
#include "harness/commands/commands.h"

namespace opkit::harness {

struct MeasuredDevice {
  reports::DeviceRecord record;
  DevicePeaks peaks;       // the better of kernels and of plain shaders
  std::string lines;       // printed below its name
  std::string clockFault;  // why the clock of the device cannot be trusted; empty if it can

  std::string toText() const;
  /// Of toText(), in another process.
  static MeasuredDevice fromText(const std::string& text);
};

/// Prints nothing: a worker that prints into a closed pipe would end by a signal of its own.
MeasuredDevice measureDevice(const BackendLane& lane, const OpRegistry& registry);

}  // namespace opkit::harness
