#include "engine/backend/vulkan/device.h"

#include "engine/backend/vulkan/vulkan_status.h"

namespace opkit::vulkan {
namespace {

VkDeviceQueueCreateInfo queueInfo(const PhysicalDevice& physical) {
  static constexpr float kPriority = 1.0f;
  VkDeviceQueueCreateInfo queue{VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO};
  queue.queueFamilyIndex = physical.computeFamily;
  queue.queueCount = 1;
  queue.pQueuePriorities = &kPriority;
  return queue;
}

Status createHandle(const PhysicalDevice& physical, VkDevice* handle) {
  VkPhysicalDeviceVulkan12Features features12{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES};
  features12.storageBuffer8BitAccess = physical.storage8;
  features12.shaderInt8 = physical.int8;
  features12.shaderFloat16 = physical.float16;
  VkPhysicalDeviceVulkan11Features features11{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES, &features12};
  features11.storageBuffer16BitAccess = physical.storage16;
  VkPhysicalDeviceFeatures2 features{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, &features11};
  features.features.shaderInt16 = physical.int16;
  features.features.shaderInt64 = physical.int64;
  features.features.shaderFloat64 = physical.float64;
  VkPhysicalDevicePipelineExecutablePropertiesFeaturesKHR statistics{
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PIPELINE_EXECUTABLE_PROPERTIES_FEATURES_KHR, nullptr, VK_TRUE};
  VkPhysicalDeviceImageRobustnessFeatures robustness{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_IMAGE_ROBUSTNESS_FEATURES,
                                                     nullptr, VK_TRUE};
  VkPhysicalDeviceShaderIntegerDotProductFeatures dots{
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_INTEGER_DOT_PRODUCT_FEATURES, nullptr, VK_TRUE};
  std::vector<const char*> extensions;
  const auto add = [&](bool wanted, const char* extension, auto& feature) {
    if (!wanted) return;
    extensions.push_back(extension);
    feature.pNext = features12.pNext;
    features12.pNext = &feature;
  };
  add(physical.pipelineStatistics, VK_KHR_PIPELINE_EXECUTABLE_PROPERTIES_EXTENSION_NAME, statistics);
  add(physical.imageRobustness, VK_EXT_IMAGE_ROBUSTNESS_EXTENSION_NAME, robustness);
  add(physical.byteDots, VK_KHR_SHADER_INTEGER_DOT_PRODUCT_EXTENSION_NAME, dots);
  const VkDeviceQueueCreateInfo queue = queueInfo(physical);
  VkDeviceCreateInfo info{VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO, &features};
  info.queueCreateInfoCount = 1;
  info.pQueueCreateInfos = &queue;
  info.enabledExtensionCount = static_cast<uint32_t>(extensions.size());
  info.ppEnabledExtensionNames = extensions.data();
  return toStatus(vkCreateDevice(physical.handle, &info, nullptr, handle), "creating the device");
}

}  // namespace

Result<std::shared_ptr<Device>> Device::create(std::shared_ptr<Instance> instance, const PhysicalDevice& physical) {
  std::shared_ptr<Device> device(new Device(std::move(instance), physical));
  OPKIT_TRY(createHandle(physical, &device->handle_));
  volkLoadDeviceTable(&device->table_, device->handle_);
  device->table_.vkGetDeviceQueue(device->handle_, physical.computeFamily, 0, &device->queue_);
  return device;
}

Device::~Device() {
  if (!handle_) return;
  table_.vkDeviceWaitIdle(handle_);
  memory_.releaseAll();
  table_.vkDestroyDevice(handle_, nullptr);
}

Status Device::requireAlive() const {
  return lost_ ? Status::deviceLost("vulkan: {} was lost earlier; make a new session on a new Runtime",
                                    physical_.info.name)
               : Status::ok();
}

Status Device::submitAndWait(VkCommandBuffer commands, VkFence fence) {
  OPKIT_TRY(requireAlive());
  Status status =
      faults_.submissionFails() ? toStatus(VK_ERROR_DEVICE_LOST, "submitting work") : submit(commands, fence);
  if (status.code() == StatusCode::DeviceLost) lost_ = true;
  return status;
}

Status Device::submit(VkCommandBuffer commands, VkFence fence) {
  VkSubmitInfo info{VK_STRUCTURE_TYPE_SUBMIT_INFO};
  info.commandBufferCount = 1;
  info.pCommandBuffers = &commands;
  {
    const std::lock_guard<std::mutex> lock(queueMutex_);
    OPKIT_VK(table_.vkQueueSubmit(queue_, 1, &info, fence), "submitting work");
  }
  Status status = toStatus(table_.vkWaitForFences(handle_, 1, &fence, VK_TRUE, UINT64_MAX), "waiting for the device");
  // The caller may free what the work uses. If the device cannot even become idle, nothing on it is safe.
  if (!status.isOk() && status.code() != StatusCode::DeviceLost && table_.vkDeviceWaitIdle(handle_) != VK_SUCCESS)
    return toStatus(VK_ERROR_DEVICE_LOST, "waiting for the device");
  const Status reset = toStatus(table_.vkResetFences(handle_, 1, &fence), "resetting a fence");
  return status.isOk() ? reset : status;
}

Result<Device::MemoryType> Device::memoryType(MemoryUse use, uint32_t allowed) const {
  constexpr VkMemoryPropertyFlags kHost = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
  const bool mapped = use == MemoryUse::Staging || physical_.unified;
  const VkMemoryPropertyFlags required = mapped ? kHost : VkMemoryPropertyFlags{VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT};
  const VkMemoryPropertyFlags wanted = use == MemoryUse::Staging
                                           ? VK_MEMORY_PROPERTY_HOST_CACHED_BIT
                                           : VK_MEMORY_PROPERTY_HOST_CACHED_BIT | VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT;
  int best = -1;
  int bestScore = -1;
  for (uint32_t i = 0; i < physical_.memory.memoryTypeCount; ++i) {
    const VkMemoryPropertyFlags flags = physical_.memory.memoryTypes[i].propertyFlags;
    if (!(allowed >> i & 1u) || (flags & required) != required) continue;
    const int score = __builtin_popcount(flags & wanted);
    if (score <= bestScore) continue;
    best = static_cast<int>(i);
    bestScore = score;
  }
  if (best < 0) return Status::unsupported("vulkan: {} has no memory type for tensors", physical_.info.name);
  return MemoryType{static_cast<uint32_t>(best), mapped};
}

Result<Owned<VkFence>> createFence(const Device& device) {
  const VkFenceCreateInfo info{VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
  VkFence fence = VK_NULL_HANDLE;
  OPKIT_VK_CREATE(device, device.vk().vkCreateFence(device.handle(), &info, nullptr, &fence), "creating a fence");
  return Owned<VkFence>(device, fence, device.vk().vkDestroyFence);
}

}  // namespace opkit::vulkan
