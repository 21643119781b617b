#include "engine/backend/vulkan/vulkan_runtime.h"

#include "engine/backend/vulkan/device.h"
#include "engine/backend/vulkan/pipeline_cache.h"
#include "engine/backend/vulkan/vulkan_backend.h"

namespace opkit::vulkan {

VulkanRuntime::VulkanRuntime(std::shared_ptr<Device> device)
    : device_(std::move(device)), pipelines_(std::make_unique<PipelineCache>(device_)) {}

VulkanRuntime::~VulkanRuntime() = default;

const DeviceInfo& VulkanRuntime::device() const { return device_->physical().info; }

Result<std::unique_ptr<Backend>> VulkanRuntime::createBackend(const OpRegistry& registry, const BackendConfig& config) {
  OPKIT_TRY(device_->requireAlive());
  return VulkanBackend::create(shared_from_this(), registry, config);
}

Result<std::vector<DeviceInfo>> devices() {
  OPKIT_ASSIGN(const std::shared_ptr<Instance> instance, Instance::create(Validation::Off));
  OPKIT_ASSIGN(const std::vector<PhysicalDevice> physical, listDevices(*instance));
  std::vector<DeviceInfo> infos;
  for (const PhysicalDevice& device : physical) infos.push_back(device.info);
  return infos;
}

Result<std::shared_ptr<Runtime>> createRuntime(const RuntimeOptions& options) {
  OPKIT_ASSIGN(const std::shared_ptr<Instance> instance, Instance::create(options.validation));
  OPKIT_ASSIGN(const std::vector<PhysicalDevice> physical, listDevices(*instance));
  OPKIT_ASSIGN(const PhysicalDevice chosen, chooseDevice(physical, options.device));
  OPKIT_ASSIGN(std::shared_ptr<Device> device, Device::create(instance, chosen));
  return std::shared_ptr<Runtime>(std::make_shared<VulkanRuntime>(std::move(device)));
}

}  // namespace opkit::vulkan
