// The backends of this build, by name: reference, cpu, vulkan (when built in), null.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/backend/backend.h"

namespace opkit {

/// Checks by the Vulkan validation layers. Each level includes the one before: API use, synchronisation, accesses of
/// shaders. Off follows OPKIT_VALIDATION=core|sync|gpu (1 is core).
enum class Validation { Off, Core, Sync, Gpu };

/// "off", "core", "sync", "gpu"; InvalidArgument for anything else.
Result<Validation> parseValidation(const std::string& name);

struct RuntimeOptions {
  std::string device;  // index, part of a name, or UUID; empty takes the best device
  Validation validation = Validation::Off;
  // Folder in which compiled pipelines and tuning results outlive the process. Empty: OPKIT_CACHE_DIR, else opkit in
  // XDG_CACHE_HOME or ~/.cache. "off", here or in the variable, keeps nothing.
  std::string cacheDir;
  // Vulkan: hides features and lowers limits of the device, "no-fp16,subgroup=4,shared=16k,workgroup=128"; see
  // engine/backend/vulkan/capability_mask.h. Also chosen by OPKIT_VULKAN_MASK.
  std::string mask;
  // Vulkan: the device class by which kernels are chosen (engine/backend/device_class.h). Empty: OPKIT_DEVICE_CLASS,
  // else the device's own.
  std::string deviceClass;
  // Vulkan: a file of estimates that choose among the alternatives of kernels where nothing was measured, as
  // `op-harness shaders --access --alternatives --guesses FILE` writes it. Empty: OPKIT_TUNING_GUESSES, else none.
  std::string guesses;
};

struct BackendKind {
  std::string name;
  std::string summary;
  std::function<Result<std::vector<DeviceInfo>>()> devices;
  std::function<Result<std::shared_ptr<Runtime>>(const RuntimeOptions&)> createRuntime;
};

/// Every backend compiled into this build, then those that plugins added. Thread-safe, like all of this header.
std::vector<BackendKind> backendKinds();

/// Adds a backend at run time. InvalidArgument for a name that is taken.
Status addBackendKind(BackendKind kind);
/// Removes what addBackendKind added; existing Runtimes stay valid.
void removeBackendKind(const std::string& name);

/// The Runtime of a backend on a device. InvalidArgument lists the known names; Unsupported names what is missing (no
/// loader, no driver, no such device).
Result<std::shared_ptr<Runtime>> createRuntime(const std::string& backend, const RuntimeOptions& options = {});

}  // namespace opkit
