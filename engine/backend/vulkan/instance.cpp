#include "engine/backend/vulkan/instance.h"

#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <utility>

#include "engine/backend/vulkan/vulkan_runtime.h"
#include "engine/backend/vulkan/vulkan_status.h"
#include "engine/base/fork_count.h"

namespace opkit::vulkan {
namespace {

constexpr const char* kLayer = "VK_LAYER_KHRONOS_validation";

std::atomic<uint64_t> messageCount{0};

VKAPI_ATTR VkBool32 VKAPI_CALL onMessage(VkDebugUtilsMessageSeverityFlagBitsEXT, VkDebugUtilsMessageTypeFlagsEXT,
                                         const VkDebugUtilsMessengerCallbackDataEXT* data, void*) {
  ++messageCount;
  std::fprintf(stderr, "vulkan validation: %s\n", data->pMessage);
  return VK_FALSE;
}

VkDebugUtilsMessengerCreateInfoEXT messengerInfo() {
  VkDebugUtilsMessengerCreateInfoEXT info{VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT};
  info.messageSeverity =
      VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT | VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT;
  info.messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT;
  info.pfnUserCallback = onMessage;
  return info;
}

Result<Validation> validationMode(Validation asked) {
  const char* variable = std::getenv("OPKIT_VALIDATION");
  if (asked != Validation::Off || !variable || *variable == '\0' || std::strcmp(variable, "0") == 0) return asked;
  if (std::strcmp(variable, "1") == 0) return Validation::Core;
  auto mode = parseValidation(variable);
  return mode ? mode : Result<Validation>(mode.error().withContext("OPKIT_VALIDATION"));
}

Status requireLayer() {
  uint32_t count = 0;
  vkEnumerateInstanceLayerProperties(&count, nullptr);
  std::vector<VkLayerProperties> layers(count);
  vkEnumerateInstanceLayerProperties(&count, layers.data());
  for (const VkLayerProperties& layer : layers)
    if (std::strcmp(layer.layerName, kLayer) == 0) return Status::ok();
  return Status::unsupported(
      "vulkan: validation was asked for, but the layer {} is not installed (Debian: vulkan-validationlayers)", kLayer);
}

Status createInstanceHandle(Validation mode, VkInstance* handle) {
  VkApplicationInfo application{VK_STRUCTURE_TYPE_APPLICATION_INFO};
  application.pApplicationName = "opkit";
  application.apiVersion = VK_API_VERSION_1_2;
  VkInstanceCreateInfo info{VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO};
  info.pApplicationInfo = &application;
  VkDebugUtilsMessengerCreateInfoEXT messenger = messengerInfo();  // reports on creation and destruction too
  const char* extension = VK_EXT_DEBUG_UTILS_EXTENSION_NAME;
  static constexpr VkValidationFeatureEnableEXT kFeatures[] = {
      VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT, VK_VALIDATION_FEATURE_ENABLE_GPU_ASSISTED_EXT,
      VK_VALIDATION_FEATURE_ENABLE_GPU_ASSISTED_RESERVE_BINDING_SLOT_EXT};
  const VkValidationFeaturesEXT features{
      VK_STRUCTURE_TYPE_VALIDATION_FEATURES_EXT,           &messenger, mode == Validation::Gpu ? 2u : 1u,
      mode == Validation::Gpu ? kFeatures + 1 : kFeatures, 0,          nullptr};
  if (mode != Validation::Off) {
    OPKIT_TRY(requireLayer());
    info.pNext = mode == Validation::Core ? static_cast<const void*>(&messenger) : &features;
    info.enabledLayerCount = 1;
    info.ppEnabledLayerNames = &kLayer;
    info.enabledExtensionCount = 1;
    info.ppEnabledExtensionNames = &extension;
  }
  const VkResult result = vkCreateInstance(&info, nullptr, handle);
  if (result == VK_ERROR_INCOMPATIBLE_DRIVER)
    return Status::unsupported(
        "vulkan: the loader found no usable driver (Debian: mesa-vulkan-drivers; check VK_DRIVER_FILES and "
        "VK_ICD_FILENAMES)");
  return toStatus(result, "creating the instance");
}

/// Guards the loading of volk's process-wide function pointers. They are loaded once: they are the loader's
/// trampolines, which serve every instance, and other threads may be calling them.
std::mutex mutex;
std::array<std::weak_ptr<Instance>, 4> live;
uint64_t forksOfLive = 0;  // at the last call

}  // namespace

uint64_t validationMessageCount() { return messageCount; }

Result<std::shared_ptr<Instance>> Instance::create(Validation validation) {
  const std::lock_guard<std::mutex> lock(mutex);
  OPKIT_ASSIGN(const Validation mode, validationMode(validation));
  if (std::exchange(forksOfLive, forkCount()) != forkCount()) live = {};  // the parent's, without the driver's threads
  std::weak_ptr<Instance>& slot = live[static_cast<size_t>(mode)];
  if (std::shared_ptr<Instance> existing = slot.lock()) return existing;
  if (!vkGetInstanceProcAddr && volkInitialize() != VK_SUCCESS)
    return Status::unsupported("vulkan: no Vulkan loader on this system (libvulkan.so.1; Debian: libvulkan1)");
  std::shared_ptr<Instance> instance(new Instance);
  OPKIT_TRY(createInstanceHandle(mode, &instance->handle_));
  if (!volkGetLoadedInstance()) volkLoadInstanceOnly(instance->handle_);
  if (mode != Validation::Off) {
    const auto create = reinterpret_cast<PFN_vkCreateDebugUtilsMessengerEXT>(
        vkGetInstanceProcAddr(instance->handle_, "vkCreateDebugUtilsMessengerEXT"));
    const VkDebugUtilsMessengerCreateInfoEXT info = messengerInfo();
    OPKIT_VK(create(instance->handle_, &info, nullptr, &instance->messenger_), "installing the validation messenger");
  }
  slot = instance;
  return instance;
}

Instance::~Instance() {
  if (messenger_) {
    const auto destroy = reinterpret_cast<PFN_vkDestroyDebugUtilsMessengerEXT>(
        vkGetInstanceProcAddr(handle_, "vkDestroyDebugUtilsMessengerEXT"));
    destroy(handle_, messenger_, nullptr);
  }
  if (handle_) vkDestroyInstance(handle_, nullptr);
}

}  // namespace opkit::vulkan
