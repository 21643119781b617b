// The Vulkan backend's entry: the devices there are, and a Runtime on one of them.
//
// A missing loader, driver or device is an Unsupported status that says which and what to install. Thread-safe.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/backend/backend.h"
#include "engine/backend/backend_registry.h"

namespace opkit::vulkan {

class Device;
class PipelineCache;

class VulkanRuntime final : public Runtime, public std::enable_shared_from_this<VulkanRuntime> {
 public:
  explicit VulkanRuntime(std::shared_ptr<Device> device);
  ~VulkanRuntime() override;

  const DeviceInfo& device() const override;
  Result<std::unique_ptr<Backend>> createBackend(const OpRegistry& registry, const BackendConfig& config) override;

  const std::shared_ptr<Device>& vulkanDevice() const { return device_; }
  PipelineCache& pipelines() { return *pipelines_; }

 private:
  std::shared_ptr<Device> device_;  // shared: buffers keep it too
  std::unique_ptr<PipelineCache> pipelines_;
};

/// Hardware before software.
Result<std::vector<DeviceInfo>> devices();
Result<std::shared_ptr<Runtime>> createRuntime(const RuntimeOptions& options);

/// Messages of the validation layers since the process began; each was printed to stderr. Zero without them.
uint64_t validationMessageCount();

}  // namespace opkit::vulkan
