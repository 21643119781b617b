// DeviceRoof: the rates of plain shaders on a Vulkan device, and whether its clock agrees with the host's. The rates
// bound its kernels; no kernel of an operator is among them.
#pragma once

#include <memory>

#include "engine/tools/device_peaks.h"

namespace opkit::harness {

struct DeviceRoof {
  /// fp32 multiply-adds from registers, two operations each, and copies of growing size.
  DevicePeaks peaks;
  double launchNs = 0;    // least time of a dispatch of one work group
  double clockRatio = 0;  // device time / host time of a dispatch that takes at least 50 ms; 0: the device has no clock

  /// Of the fastest copy.
  double cacheBytesPerNs() const;
  /// Bytes of the largest copy that is 1.5 times as fast as one from memory; 0 if none is.
  double cacheBytes() const;
  /// Internal if times by the device's clock cannot be trusted: it is off by more than a tenth.

  Status clockStatus() const;
};

/// Takes one to two seconds and at most 512 MiB; copies that do not fit the device are left out.
Result<DeviceRoof> probeDeviceRoof(Runtime& runtime);

/// Internal if a clock with this ratio (DeviceRoof::clockRatio) cannot be trusted.
Status checkClock(double ratio);

}  // namespace opkit::harness
