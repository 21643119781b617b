// Entry of the Vulkan backend: lists the devices and makes a Runtime on one of them.
//
// A missing loader, driver or device is Unsupported; the message says which one and what to install. Thread-safe.
#pragma once

#include <algorithm>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/backend/backend.h"
#include "engine/backend/backend_registry.h"
#include "engine/backend/tuning_cache.h"
#include "engine/backend/vulkan/shader_code.h"

namespace opkit::vulkan {

class Device;
class DispatchTracer;
class PipelineCache;

/// A choice that a kernel offered while one alternative was forced (BackendConfig::alternative).
struct OfferedChoice {
  std::string name;  // of the entry in a TuningCache
  size_t standard = 0;
  // For each candidate of the entry, the forced alternative that records it; nothing where the device cannot run it.
  std::vector<std::optional<size_t>> alternatives;
};
using ChoiceListener = std::function<void(const OfferedChoice&)>;

class VulkanRuntime final : public Runtime, public std::enable_shared_from_this<VulkanRuntime> {
 public:
  /// Caches are read from `cacheFolder` now and written when a Backend or the Runtime is destroyed.
  VulkanRuntime(std::shared_ptr<Device> device, const std::optional<std::filesystem::path>& cacheFolder);
  /// A Runtime on the same device that chooses kernels for another class. Shares pipelines, shader source and tracer;
  /// has measurements of its own, which no file keeps.
  std::shared_ptr<VulkanRuntime> inClass(const DeviceClass& deviceClass) const;
  /// REQUIRED before the first Backend: measures limits that only a running shader can show (loop_limit.h).
  Status measureLimits(const std::optional<std::filesystem::path>& cacheFolder);
  ~VulkanRuntime() override;

  const DeviceInfo& device() const override;
  Result<std::unique_ptr<Backend>> createBackend(const OpRegistry& registry, const BackendConfig& config) override;

  const std::shared_ptr<Device>& vulkanDevice() const { return device_; }
  const DeviceClass& deviceClass() const { return *deviceClass_; }
  PipelineCache& pipelines() { return *pipelines_; }
  /// Iterations of all loops of one invocation together; UINT64_MAX if there is no limit. The mask's limit if that is
  /// lower.
  uint64_t loopIterations() const { return std::min(loopIterations_, loopsAllowed_); }
  /// Backends made from now on see at most this many; UINT64_MAX ends that.
  void limitLoops(uint64_t most) { loopsAllowed_ = most; }
  TuningCache& tuning() { return *tuning_; }
  TuningCache* measurements() override { return tuning_.get(); }
  /// Estimates that decide where nothing was measured; null without any.
  const TuningCache* guesses() const { return guesses_.get(); }
  /// REQUIRES that no Backend exists. InvalidArgument for no file and for one without a guess for this device class and
  /// these shaders.
  Status readGuesses(const std::filesystem::path& file);
  /// Writes new entries; a failed write is a warning on stderr.
  void saveCaches() noexcept;

  /// Called for every dispatch recorded from now on, by the thread that records it.
  void setShaderSource(ShaderSource source);
  /// Watches every dispatch recorded from now on; null ends that. The source above comes first.
  void setTracer(DispatchTracer* tracer);
  /// Called, from now on, for every choice that a Backend with a forced alternative meets; null ends that.
  void setChoiceListener(ChoiceListener listener) { choiceListener_ = std::move(listener); }
  const ChoiceListener& choiceListener() const { return choiceListener_; }

 private:
  VulkanRuntime(const VulkanRuntime& like, const DeviceClass& deviceClass);

  std::shared_ptr<Device> device_;  // shared: buffers keep it too
  const DeviceClass* deviceClass_;
  DeviceInfo info_;
  std::shared_ptr<PipelineCache> pipelines_;  // shared with Runtimes of other classes
  std::unique_ptr<TuningCache> tuning_;
  std::unique_ptr<const TuningCache> guesses_;
  ChoiceListener choiceListener_;
  uint64_t loopIterations_ = UINT64_MAX;  // measured
  uint64_t loopsAllowed_ = UINT64_MAX;
};

/// The key of files of guesses: they serve every device of the class, with the shaders of this build.
std::string guessKey(const DeviceClass& deviceClass);

/// The Runtime, if it is one of this backend; else null.
inline VulkanRuntime* asVulkan(Runtime* runtime) { return dynamic_cast<VulkanRuntime*>(runtime); }
inline std::shared_ptr<VulkanRuntime> asVulkan(const std::shared_ptr<Runtime>& runtime) {
  return std::dynamic_pointer_cast<VulkanRuntime>(runtime);
}

/// Hardware before software.
Result<std::vector<DeviceInfo>> devices();
Result<std::shared_ptr<Runtime>> createRuntime(const RuntimeOptions& options);

/// Messages of the validation layers since the process began; each was printed to stderr. Zero without them.
uint64_t validationMessageCount();

}  // namespace opkit::vulkan
