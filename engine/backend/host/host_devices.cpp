#include "engine/backend/host/host_devices.h"

#include <fstream>

#include "engine/backend/cpu/simd_target.h"

namespace opkit {
namespace {

/// "model name" of the first processor; "cpu" if the system does not tell.
std::string processorName() {
  std::ifstream file("/proc/cpuinfo");
  std::string line;
  while (std::getline(file, line)) {
    const size_t colon = line.find(':');
    if (line.starts_with("model name") && colon != std::string::npos && colon + 2 < line.size())
      return line.substr(colon + 2);
  }
  return "cpu";
}

}  // namespace

DeviceInfo hostDevice(const std::string& backend) {
  DeviceInfo info;
  info.backend = backend;
  info.name = backend == "cpu" ? fmt::format("{} ({})", processorName(), cpu::simdTargetName()) : processorName();
  info.driver = backend == "cpu" ? "opkit with Highway" : "opkit";
  return info;
}

Status checkDevice(const DeviceInfo& device, const std::string& wanted) {
  const bool isIndex = wanted.find_first_not_of("0123456789") == std::string::npos;
  const bool matches = wanted.empty() || (isIndex ? wanted == std::to_string(device.index)
                                                  : device.name.find(wanted) != std::string::npos);
  if (matches) return Status::ok();
  return Status::unsupported("{}: expected device {} ({}), got '{}'", device.backend, device.index, device.name,
                             wanted);
}

}  // namespace opkit
