// Tuner: chooses among the alternatives of a kernel: from the device's tuning cache, else by timing them, else by the
// estimates that the Runtime was given, else the kernel's standard one.
//
// A kernel offers alternatives through Encoder::choose. One that does not, but reads the figures of its device class
// (teams, widths, tiles), has the variations of the class (engine/backend/class_variations.h) for alternatives.
//
// Alternatives are timed on separate tensors, so a decision can be made before memory is planned. Belongs to one
// Backend and is used by its thread.
#pragma once

#include "engine/backend/tuning_cache.h"
#include "engine/backend/vulkan/command_encoder.h"

namespace opkit::vulkan {

class VulkanBackend;

class Tuner {
 public:
  /// With `enabled`, alternatives that the cache lacks are timed. `forced` is used where a kernel has so many.
  Tuner(VulkanBackend& backend, bool enabled, std::optional<size_t> forced)
      : backend_(backend), enabled_(enabled), forced_(forced) {}

  /// The alternative to encode; the same at every call with the same name on one Runtime.
  Result<size_t> choose(const Alternatives& alternatives, TensorList inputs, TensorList outputs);

  /// The variation of the device class to encode `execution` with, an index of variationsOf. 0 without any work where
  /// the class has one only, or nothing was measured and nothing is to be. Variations that record the same commands as
  /// an earlier one are no alternatives; `forced` counts the others.
  Result<size_t> chooseVariation(VulkanExecution& execution, TensorList inputs, TensorList outputs);

 private:
  /// The choice among `count` candidates that the cache holds or, without tuning, the guesses.
  std::optional<size_t> known(const std::string& name, size_t count) const;
  Result<RecordedWork> describe(VulkanExecution& execution, size_t variation, TensorList inputs, TensorList outputs);
  /// The first of the variations that record the same, for each; nothing for one that the device cannot run.
  Result<std::vector<std::optional<size_t>>> firstOfKind(VulkanExecution& execution, const RecordedWork& standard,
                                                         TensorList inputs, TensorList outputs);
  Result<size_t> timeVariations(VulkanExecution& execution, const std::string& name,
                                const std::vector<std::optional<size_t>>& first, TensorList inputs, TensorList outputs);
  /// Nanoseconds of one run, or a refusal.
  Result<double> time(const Alternatives& alternatives, size_t choice, TensorList inputs, TensorList outputs);
  static constexpr double kNotAble = -1;  // instead of a time
  /// A device may be too small for an alternative; other errors are reported.
  static bool isRefusal(const Status& status);
  /// Appends a time or kNotAble to the entry.
  static Status note(const Result<double>& ns, const std::string& name, TuningCache::Entry& entry);

  VulkanBackend& backend_;
  bool enabled_;
  std::optional<size_t> forced_;
};

}  // namespace opkit::vulkan
