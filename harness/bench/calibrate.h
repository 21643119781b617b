// Calibration: the speed of the machine today, by loops that never change. A run that measures records it, so that a
// change of the machine is told from a change of the code.
#pragma once

#include "engine/tools/device_peaks.h"
#include "reports/results/records.h"

namespace opkit::harness {

/// Medians of some rounds on one thread: a fixed loop of multiply-adds and a copy of 64 MiB. Takes about 0.2 s.
/// `peaks` are the device's rates if they were measured.
reports::CalibrationRecord calibrate(const DevicePeaks* peaks = nullptr);

}  // namespace opkit::harness
