// Tuner: chooses among the alternatives of a kernel: from the device's tuning cache, else by timing them, else the
// kernel's standard one.
//
// Alternatives are timed on separate tensors, so a decision can be made before memory is planned. Belongs to one
// Backend and is used by its thread.
#pragma once

#include "engine/backend/vulkan/vulkan_execution.h"

namespace opkit::vulkan {

class VulkanBackend;

class Tuner {
 public:
  /// With `enabled`, alternatives that the cache lacks are timed. `forced` is used where a kernel has so many.
  Tuner(VulkanBackend& backend, bool enabled, std::optional<size_t> forced)
      : backend_(backend), enabled_(enabled), forced_(forced) {}

  /// The alternative to encode; the same at every call with the same name on one Runtime.
  Result<size_t> choose(const Alternatives& alternatives, TensorList inputs, TensorList outputs);

 private:
  /// Nanoseconds of one run, or a refusal.
  Result<double> time(const Alternatives& alternatives, size_t choice, TensorList inputs, TensorList outputs);

  VulkanBackend& backend_;
  bool enabled_;
  std::optional<size_t> forced_;
};

}  // namespace opkit::vulkan
