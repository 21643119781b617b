#include "engine/backend/vulkan/vulkan_runtime.h"

#include <cstdlib>

#include "engine/backend/cache_file.h"
#include "engine/backend/tuning_cache.h"
#include "engine/backend/vulkan/capability_mask.h"
#include "engine/backend/vulkan/device.h"
#include "engine/backend/vulkan/loop_limit.h"
#include "engine/backend/vulkan/pipeline_cache.h"
#include "engine/backend/vulkan/shader_hash.h"
#include "engine/backend/vulkan/vulkan_backend.h"

namespace opkit::vulkan {

namespace {

/// Key of everything that compiled pipelines and measurements depend on.
std::string cacheKey(const PhysicalDevice& physical) {
  return fmt::format("device {} driver {:x} {} shaders {}", physical.info.uuid, physical.properties.driverVersion,
                     physical.info.driver, kShaderHash);
}

/// The device's, saying in which class it is used if that is not its own.
DeviceInfo infoIn(const DeviceClass& deviceClass, const PhysicalDevice& device) {
  DeviceInfo info = device.info;
  if (device.deviceClass != &deviceClass) info.name += fmt::format(" as {}", deviceClass.name);
  return info;
}

/// True if `wanted`, or else OPKIT_DEVICE_CLASS, selects another class than the device's own.
Result<bool> forceClass(const std::string& wanted, PhysicalDevice& device) {
  const char* fromEnvironment = std::getenv("OPKIT_DEVICE_CLASS");
  const std::string name = wanted.empty() && fromEnvironment ? fromEnvironment : wanted;
  if (name.empty()) return false;
  OPKIT_ASSIGN(const DeviceClass* const forced, deviceClassNamed(name));
  device.info = infoIn(*forced, device);
  return std::exchange(device.deviceClass, forced) != forced;
}

std::filesystem::path fileIn(const std::optional<std::filesystem::path>& folder, const Device& device,
                             const char* suffix) {
  return folder ? *folder / (device.physical().info.uuid + suffix) : std::filesystem::path();
}

}  // namespace

VulkanRuntime::VulkanRuntime(std::shared_ptr<Device> device, const std::optional<std::filesystem::path>& cacheFolder)
    : device_(std::move(device)), deviceClass_(device_->physical().deviceClass), info_(device_->physical().info) {
  const std::string key = cacheKey(device_->physical());
  pipelines_ = std::make_shared<PipelineCache>(device_, fileIn(cacheFolder, *device_, ".pipelines"), key);
  tuning_ = std::make_unique<TuningCache>(fileIn(cacheFolder, *device_, ".tuning"), key);
}

VulkanRuntime::VulkanRuntime(const VulkanRuntime& like, const DeviceClass& deviceClass)
    : device_(like.device_),
      deviceClass_(&deviceClass),
      info_(infoIn(deviceClass, device_->physical())),
      pipelines_(like.pipelines_),
      tuning_(std::make_unique<TuningCache>(std::filesystem::path(), cacheKey(device_->physical()))),
      loopIterations_(like.loopIterations_),
      loopsAllowed_(like.loopsAllowed_) {}

std::shared_ptr<VulkanRuntime> VulkanRuntime::inClass(const DeviceClass& deviceClass) const {
  return std::shared_ptr<VulkanRuntime>(new VulkanRuntime(*this, deviceClass));
}

Status VulkanRuntime::measureLimits(const std::optional<std::filesystem::path>& cacheFolder) {
  const PhysicalDevice& physical = device_->physical();
  OPKIT_ASSIGN(
      const uint64_t measured,
      vulkan::loopIterations(device_, *pipelines_, fileIn(cacheFolder, *device_, ".limits"), cacheKey(physical)));
  loopIterations_ = std::min(measured, physical.loopIterations);
  return Status::ok();
}

Status VulkanRuntime::readGuesses(const std::filesystem::path& file) {
  const DeviceClass& own = *deviceClass_;
  if (!std::filesystem::is_regular_file(file)) return Status::invalidArgument("guesses: no file {}", file.string());
  auto guesses = std::make_unique<const TuningCache>(file, guessKey(own), false);
  if (guesses->size() == 0)
    return Status::invalidArgument("guesses: {} holds none for devices of the class {} and the shaders of this build",
                                   file.string(), own.name);
  guesses_ = std::move(guesses);
  return Status::ok();
}

VulkanRuntime::~VulkanRuntime() { saveCaches(); }

void VulkanRuntime::saveCaches() noexcept {
  keepCache([this] { return pipelines_->save(); });
  keepCache([this] { return tuning_->save(); });
}

const DeviceInfo& VulkanRuntime::device() const { return info_; }

void VulkanRuntime::setShaderSource(ShaderSource source) { pipelines_->setSource(std::move(source)); }

void VulkanRuntime::setTracer(DispatchTracer* tracer) { pipelines_->setTracer(tracer); }

Result<std::unique_ptr<Backend>> VulkanRuntime::createBackend(const OpRegistry& registry, const BackendConfig& config) {
  OPKIT_TRY(device_->requireAlive());
  return VulkanBackend::create(shared_from_this(), registry, config);
}

std::string guessKey(const DeviceClass& deviceClass) {
  return fmt::format("guesses {} shaders {}", deviceClass.name, kShaderHash);
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
  OPKIT_ASSIGN(PhysicalDevice chosen, chooseDevice(physical, options.device));
  const char* fromEnvironment = std::getenv("OPKIT_VULKAN_MASK");
  const std::string mask = options.mask.empty() && fromEnvironment ? fromEnvironment : options.mask;
  OPKIT_TRY(applyMask(mask, chosen));
  OPKIT_ASSIGN(const bool forced, forceClass(options.deviceClass, chosen));
  OPKIT_ASSIGN(std::shared_ptr<Device> device, Device::create(instance, chosen));
  const auto folder = cacheFolder(mask.empty() && !forced ? options.cacheDir : "off");
  auto runtime = std::make_shared<VulkanRuntime>(std::move(device), folder);
  OPKIT_TRY(runtime->measureLimits(folder));
  const char* guesses = std::getenv("OPKIT_TUNING_GUESSES");
  const std::string file = options.guesses.empty() && guesses ? guesses : options.guesses;
  if (!file.empty()) OPKIT_TRY(runtime->readGuesses(file));
  return std::shared_ptr<Runtime>(std::move(runtime));
}

}  // namespace opkit::vulkan
