// Instance: the process's connection to the Vulkan loader, with or without the validation layers.
//
// Shared by every Runtime of the same kind that lives at the same time. create() may be called from any thread;
// a missing loader, driver or layer is a clear Unsupported status.
#pragma once

#include <volk.h>

#include <memory>

#include "engine/backend/backend_registry.h"

namespace opkit::vulkan {

class Instance {
 public:
  /// Off follows OPKIT_VALIDATION. Messages of the layers are printed to stderr and counted, see
  /// validationMessageCount() in vulkan_runtime.h.
  static Result<std::shared_ptr<Instance>> create(Validation validation);
  ~Instance();
  Instance(const Instance&) = delete;
  Instance& operator=(const Instance&) = delete;

  VkInstance handle() const { return handle_; }

 private:
  Instance() = default;
  VkInstance handle_ = VK_NULL_HANDLE;
  VkDebugUtilsMessengerEXT messenger_ = VK_NULL_HANDLE;
};

}  // namespace opkit::vulkan
