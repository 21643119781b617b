#include "harness/commands/bench_devices.h"

#include "engine/base/json_text.h"
#include "harness/bench/calibrate.h"
#include "reports/results/record_json.h"
#ifdef OPKIT_HAS_VULKAN
#include "harness/probes/device_roof.h"
#endif

namespace opkit::harness {
namespace {

using Json = nlohmann::json;

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
std::optional<reports::DeviceRoofRecord> probe(const BackendLane& lane, MeasuredDevice& found) {
  const auto roof = probeDeviceRoof(*lane.runtime);
  if (!roof) {
    found.lines += fmt::format("{}: plain shaders: {}\n", lane.name, roof.error().message());
    return std::nullopt;
  }
  const reports::DeviceRoofRecord record = recordOf(*roof);
  raise(found.peaks, roof->peaks);
  found.clockFault = roof->clockStatus().message();
  found.lines +=
      fmt::format("{}: plain shaders reach {:.3g} GFLOP/s and copy {:.3g} GB/s, a launch takes {}; {}\n", lane.name,
                  record.flopsPerNs, record.bytesPerNs, cli::formatNs(record.launchNs),
                  record.clockRatio == 0 ? "the device has no clock"
                                         : fmt::format("its clock runs at {:.3f} of the host's", record.clockRatio));
  return record;
}
#endif

}  // namespace

std::string MeasuredDevice::toText() const {
  Json bandwidths = Json::array();
  for (const DevicePeaks::Bandwidth& each : peaks.bandwidths) bandwidths.push_back({each.bytes, each.bytesPerNs});
  const Json document = {{"record", reports::toLine(record)},
                         {"flopsPerNs", peaks.flopsPerNs},
                         {"bandwidths", bandwidths},
                         {"lines", lines},
                         {"clockFault", clockFault}};
  return document.dump(-1, ' ', false, Json::error_handler_t::replace);
}

MeasuredDevice MeasuredDevice::fromText(const std::string& text) {
  MeasuredDevice device;
  const Json document = parseJson(text);
  const auto read = reports::recordFromJson(parseJson(document.value("record", "")));
  if (read && std::holds_alternative<reports::DeviceRecord>(*read))
    device.record = std::get<reports::DeviceRecord>(*read);
  device.peaks.flopsPerNs = document.value("flopsPerNs", 0.0);
  for (const Json& each : document.value("bandwidths", Json::array()))
    device.peaks.bandwidths.push_back({each[0], each[1]});
  device.lines = document.value("lines", "");
  device.clockFault = document.value("clockFault", "");
  return device;
}

MeasuredDevice measureDevice(const BackendLane& lane, const OpRegistry& registry) {
  const DeviceInfo& device = lane.runtime->device();
  MeasuredDevice found;
  const auto measured = measurePeaks(registry, {.backend = lane.name}, lane.runtime);
  if (measured) found.peaks = *measured;
  std::optional<reports::DeviceRoofRecord> roof;
#ifdef OPKIT_HAS_VULKAN
  if (lane.name == "vulkan") roof = probe(lane, found);
#endif
  found.record = {"",          device.backend,  device.name, device.driver,
                  device.uuid, device.software, {},          calibrate(measured ? &*measured : nullptr),
                  roof};
  if (measured)
    found.lines += fmt::format("{}: kernels reach {:.3g} GFLOP/s and {:.3g} GB/s, measured\n", lane.name,
                               measured->flopsPerNs, measured->bytesPerNs());
  if (!found.clockFault.empty()) found.lines += fmt::format("fail: {}\n", found.clockFault);
  return found;
}

}  // namespace opkit::harness
