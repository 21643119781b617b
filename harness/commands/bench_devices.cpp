#include "harness/commands/bench_devices.h"

#include "harness/bench/calibrate.h"
#ifdef OPKIT_HAS_VULKAN
#include "harness/probes/device_roof.h"
#endif

namespace opkit::harness {
namespace {

/// The greater rates of both, size by size of `kernels`.
[[maybe_unused]] void raise(DevicePeaks& kernels, const DevicePeaks& shaders) {
  if (kernels.bandwidths.empty()) kernels.bandwidths = shaders.bandwidths;
  kernels.flopsPerNs = std::max(kernels.flopsPerNs, shaders.flopsPerNs);
  for (DevicePeaks::Bandwidth& each : kernels.bandwidths)
    each.bytesPerNs = std::max(each.bytesPerNs, shaders.bytesPerNs(each.bytes));
}

#ifdef OPKIT_HAS_VULKAN
reports::DeviceRoofRecord recordOf(const DeviceRoof& roof) {
  return {roof.peaks.flopsPerNs, roof.peaks.bytesPerNs(), roof.cacheBytesPerNs(), roof.launchNs, roof.clockRatio};
}

/// Raises the peaks by what plain shaders reach.
std::optional<reports::DeviceRoofRecord> probe(const BackendLane& lane, DevicePeaks& peaks, Status& clock) {
  const auto roof = probeDeviceRoof(*lane.runtime);
  if (!roof) {
    fmt::print("{}: plain shaders: {}\n", lane.name, roof.error().message());
    return std::nullopt;
  }
  const reports::DeviceRoofRecord record = recordOf(*roof);
  raise(peaks, roof->peaks);
  clock = roof->clockStatus();
  fmt::print("{}: plain shaders reach {:.3g} GFLOP/s and copy {:.3g} GB/s, a launch takes {}; {}\n", lane.name,
             record.flopsPerNs, record.bytesPerNs, cli::formatNs(record.launchNs),
             record.clockRatio == 0 ? "the device has no clock"
                                    : fmt::format("its clock runs at {:.3f} of the host's", record.clockRatio));
  return record;
}
#endif

}  // namespace

MeasuredDevices measureDevices(const std::vector<BackendLane>& lanes, const OpRegistry& registry, ResultFile& file) {
  MeasuredDevices found;
  for (const BackendLane& lane : lanes) {
    const DeviceInfo& device = lane.runtime->device();
    printDevice(device);
    const auto measured = measurePeaks(registry, {.backend = lane.name}, lane.runtime);
    DevicePeaks& peaks = found.peaks[lane.name];
    if (measured) peaks = *measured;
    std::optional<reports::DeviceRoofRecord> roof;
    Status clock;
#ifdef OPKIT_HAS_VULKAN
    if (lane.name == "vulkan") roof = probe(lane, peaks, clock);
#endif
    file.write(device, "", calibrate(measured ? &*measured : nullptr), roof);
    if (measured)
      fmt::print("{}: kernels reach {:.3g} GFLOP/s and {:.3g} GB/s, measured\n", lane.name, measured->flopsPerNs,
                 measured->bytesPerNs());
    if (clock.isOk()) continue;
    CaseResult result{.kind = "bench", .id = "device clock", .backend = lane.name, .device = device.name};
    result.check("clock", clock);
    file.write(result);
    fmt::print("fail: {}\n", clock.message());
    found.failed = true;
  }
  return found;
}

}  // namespace opkit::harness
