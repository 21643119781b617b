// PhysicalDevice: the properties of a Vulkan device, and the choice among several.
//
// A plain value, read once from the driver. Devices are ordered hardware first, then as the loader lists them;
// DeviceInfo::index counts in that order.
#pragma once

#include <volk.h>

#include <string>
#include <vector>

#include "engine/backend/backend.h"
#include "engine/backend/device_class.h"
#include "engine/backend/vulkan/instance.h"

namespace opkit::vulkan {

struct PhysicalDevice {
  VkPhysicalDevice handle = VK_NULL_HANDLE;
  DeviceInfo info;
  VkPhysicalDeviceProperties properties;
  VkPhysicalDeviceMemoryProperties memory;
  uint64_t maxAllocationBytes = 0;
  uint32_t computeFamily = 0;
  uint32_t subgroupSize = 0;
  uint64_t loopIterations = UINT64_MAX;  // a mask's limit; the device's own is measured, see loop_limit.h
  uint32_t timestampBits = 0;            // 0: no device clock on the compute queue
  // Device and host share memory: map instead of staging. OPKIT_VULKAN_STAGING in the environment turns this off, so
  // that staging can be tested on a software device.
  bool unified = false;
  const DeviceClass* deviceClass = deviceClasses().data();
  // Optional features that kernels use.
  bool storage8 = false;
  bool storage16 = false;
  bool int8 = false;
  bool int16 = false;
  bool int64 = false;
  bool float16 = false;
  bool float64 = false;
  bool byteDots = false;            // VK_KHR_shader_integer_dot_product
  bool imageRobustness = false;     // VK_EXT_image_robustness: a load outside an image gives zero
  bool pipelineStatistics = false;  // VK_KHR_pipeline_executable_properties

  /// The first feature that some kernel needs and the device has not, or the first limit below those with which all
  /// kernels ran (of a software device); empty if there is none. Then a kernel that it refuses for usual shapes is at
  /// fault.
  std::string lacks() const;
};

/// Every device with Vulkan 1.2 and a compute queue; may be empty.
Result<std::vector<PhysicalDevice>> listDevices(const Instance& instance);

/// `wanted` is an index, a UUID or part of a name (case ignored); empty takes the first. Unsupported lists the devices.
Result<PhysicalDevice> chooseDevice(const std::vector<PhysicalDevice>& devices, const std::string& wanted);

}  // namespace opkit::vulkan
