// The backends of this build, by name: reference, cpu, vulkan (when built in), null.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/backend/backend.h"

namespace opkit {

struct RuntimeOptions {
  std::string device;       // index, part of a name, or UUID; empty takes the best device
  bool validation = false;  // Vulkan validation layers; also switched on by OPKIT_VALIDATION=1
};

struct BackendKind {
  std::string name;
  std::string summary;
  Result<std::vector<DeviceInfo>> (*devices)();
  Result<std::shared_ptr<Runtime>> (*createRuntime)(const RuntimeOptions&);
};

/// Every backend compiled into this build.
const std::vector<BackendKind>& backendKinds();

/// The Runtime of a backend on a device. InvalidArgument lists the known names; Unsupported says what is
/// missing (no loader, no driver, no such device).
Result<std::shared_ptr<Runtime>> createRuntime(const std::string& backend, const RuntimeOptions& options = {});

}  // namespace opkit
