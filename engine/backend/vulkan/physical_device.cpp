#include "engine/backend/vulkan/physical_device.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdlib>

#include "engine/backend/vulkan/vulkan_status.h"

namespace opkit::vulkan {
namespace {

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

std::string hex(const uint8_t (&bytes)[VK_UUID_SIZE]) {
  std::string text;
  for (const uint8_t byte : bytes) text += fmt::format("{:02x}", byte);
  return text;
}

void readProperties(PhysicalDevice& device) {
  VkPhysicalDeviceVulkan12Properties properties12{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_PROPERTIES};
  VkPhysicalDeviceVulkan11Properties properties11{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_PROPERTIES,
                                                  &properties12};
  VkPhysicalDeviceProperties2 properties{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, &properties11};
  vkGetPhysicalDeviceProperties2(device.handle, &properties);
  device.properties = properties.properties;
  device.maxAllocationBytes = properties11.maxMemoryAllocationSize;
  device.subgroupSize = properties11.subgroupSize;
  device.info = {.backend = "vulkan",
                 .name = device.properties.deviceName,
                 .driver = fmt::format("{} {}", properties12.driverName, properties12.driverInfo),
                 .uuid = hex(properties11.deviceUUID),
                 .software = device.properties.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU};
  vkGetPhysicalDeviceMemoryProperties(device.handle, &device.memory);
  const bool hostMemory =
      device.info.software || device.properties.deviceType == VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU;
  device.deviceClass = *deviceClassNamed(device.info.software ? "software" : hostMemory ? "integrated" : "discrete");
  device.unified = hostMemory && std::getenv("OPKIT_VULKAN_STAGING") == nullptr;
}

bool hasExtension(VkPhysicalDevice device, std::string_view name) {
  uint32_t count = 0;
  vkEnumerateDeviceExtensionProperties(device, nullptr, &count, nullptr);
  std::vector<VkExtensionProperties> extensions(count);
  vkEnumerateDeviceExtensionProperties(device, nullptr, &count, extensions.data());
  return std::ranges::any_of(extensions, [&](const auto& extension) { return extension.extensionName == name; });
}

void readFeatures(PhysicalDevice& device) {
  VkPhysicalDeviceVulkan12Features features12{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES};
  VkPhysicalDeviceVulkan11Features features11{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES, &features12};
  VkPhysicalDevicePipelineExecutablePropertiesFeaturesKHR statistics{
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PIPELINE_EXECUTABLE_PROPERTIES_FEATURES_KHR};
  VkPhysicalDeviceImageRobustnessFeatures robustness{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_IMAGE_ROBUSTNESS_FEATURES};
  VkPhysicalDeviceShaderIntegerDotProductFeatures dots{
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_INTEGER_DOT_PRODUCT_FEATURES};
  const auto ask = [&](const char* extension, auto& feature) {
    if (!hasExtension(device.handle, extension)) return;
    feature.pNext = features12.pNext;
    features12.pNext = &feature;
  };
  ask(VK_KHR_PIPELINE_EXECUTABLE_PROPERTIES_EXTENSION_NAME, statistics);
  ask(VK_EXT_IMAGE_ROBUSTNESS_EXTENSION_NAME, robustness);
  ask(VK_KHR_SHADER_INTEGER_DOT_PRODUCT_EXTENSION_NAME, dots);
  VkPhysicalDeviceFeatures2 features{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, &features11};
  vkGetPhysicalDeviceFeatures2(device.handle, &features);
  device.pipelineStatistics = statistics.pipelineExecutableInfo;
  device.imageRobustness = robustness.robustImageAccess;
  device.byteDots = dots.shaderIntegerDotProduct;
  device.storage8 = features12.storageBuffer8BitAccess;
  device.storage16 = features11.storageBuffer16BitAccess;
  device.int8 = features12.shaderInt8;
  device.int16 = features.features.shaderInt16;
  device.int64 = features.features.shaderInt64;
  device.float16 = features12.shaderFloat16;
  device.float64 = features.features.shaderFloat64;
}

/// A compute-only family is preferred: on many devices it runs in parallel with graphics work.
bool findComputeFamily(PhysicalDevice& device) {
  uint32_t count = 0;
  vkGetPhysicalDeviceQueueFamilyProperties(device.handle, &count, nullptr);
  std::vector<VkQueueFamilyProperties> families(count);
  vkGetPhysicalDeviceQueueFamilyProperties(device.handle, &count, families.data());
  bool found = false;
  bool dedicated = false;
  for (uint32_t i = 0; i < count; ++i) {
    if (!(families[i].queueFlags & VK_QUEUE_COMPUTE_BIT)) continue;
    const bool computeOnly = !(families[i].queueFlags & VK_QUEUE_GRAPHICS_BIT);
    if (found && (dedicated || !computeOnly)) continue;
    found = true;
    dedicated = computeOnly;
    device.computeFamily = i;
    device.timestampBits = families[i].timestampValidBits;
  }
  return found;
}

std::string describeAll(const std::vector<PhysicalDevice>& devices) {
  std::string text;
  for (const PhysicalDevice& device : devices)
    text += fmt::format("{}{} '{}' (uuid {})", text.empty() ? "" : ", ", device.info.index, device.info.name,
                        device.info.uuid);
  return text;
}

}  // namespace

Result<std::vector<PhysicalDevice>> listDevices(const Instance& instance) {
  uint32_t count = 0;
  OPKIT_VK(vkEnumeratePhysicalDevices(instance.handle(), &count, nullptr), "listing the devices");
  std::vector<VkPhysicalDevice> handles(count);
  OPKIT_VK(vkEnumeratePhysicalDevices(instance.handle(), &count, handles.data()), "listing the devices");
  std::vector<PhysicalDevice> devices;
  for (const VkPhysicalDevice handle : handles) {
    PhysicalDevice device;
    device.handle = handle;
    vkGetPhysicalDeviceProperties(handle, &device.properties);
    if (device.properties.apiVersion < VK_API_VERSION_1_2 || !findComputeFamily(device)) continue;
    readProperties(device);
    readFeatures(device);
    devices.push_back(std::move(device));
  }
  std::stable_sort(devices.begin(), devices.end(),
                   [](const auto& a, const auto& b) { return a.info.software < b.info.software; });
  for (size_t i = 0; i < devices.size(); ++i) devices[i].info.index = static_cast<int>(i);
  return devices;
}

Result<PhysicalDevice> chooseDevice(const std::vector<PhysicalDevice>& devices, const std::string& wanted) {
  if (devices.empty()) return Status::unsupported("vulkan: no device with Vulkan 1.2 and a compute queue");
  if (wanted.empty()) return devices.front();
  size_t index = 0;
  const auto parsed = std::from_chars(wanted.data(), wanted.data() + wanted.size(), index);
  const bool isIndex = parsed.ec == std::errc() && parsed.ptr == wanted.data() + wanted.size();
  if (isIndex && index < devices.size()) return devices[index];
  std::string uuid = lower(wanted);
  uuid.erase(std::remove(uuid.begin(), uuid.end(), '-'), uuid.end());
  for (const PhysicalDevice& device : devices)
    if (device.info.uuid == uuid) return device;
  for (const PhysicalDevice& device : devices)
    if (!isIndex && lower(device.info.name).find(lower(wanted)) != std::string::npos) return device;
  return Status::unsupported("vulkan: expected the index, UUID or part of the name of a device, got '{}'; there is {}",
                             wanted, describeAll(devices));
}

std::string PhysicalDevice::lacks() const {
  const VkPhysicalDeviceLimits& limits = properties.limits;
  const std::pair<bool, const char*> needs[] = {
      {storage8, "storageBuffer8BitAccess"},
      {storage16, "storageBuffer16BitAccess"},
      {int8, "shaderInt8"},
      {int16, "shaderInt16"},
      {int64, "shaderInt64"},
      {float16, "shaderFloat16"},
      {float64, "shaderFloat64"},
      {byteDots, "shaderIntegerDotProduct"},
      {imageRobustness, "VK_EXT_image_robustness"},
      {subgroupSize >= 4, "subgroups of 4"},
      {limits.maxComputeSharedMemorySize >= 32768, "32 KiB that a work group shares"},
      {limits.maxComputeWorkGroupInvocations >= 1024, "1,024 invocations of a work group"},
      {*std::ranges::min_element(limits.maxComputeWorkGroupCount) >= 65535, "65,535 work groups along each axis"},
      {limits.maxStorageBufferRange >= 128u << 20, "buffers of 128 MiB"},
      {limits.maxTexelBufferElements >= 128u << 20, "texel buffers of 128 Mi elements"},
      {limits.maxImageDimension2D >= 16384, "images of 16,384 texels each way"}};
  for (const auto& [present, name] : needs)
    if (!present) return name;
  return "";
}

}  // namespace opkit::vulkan
