#include "engine/backend/vulkan/pipeline_cache.h"

#include <xxhash.h>

#include "engine/backend/cache_file.h"
#include "engine/backend/vulkan/descriptor_allocator.h"
#include "engine/backend/vulkan/device_limits.h"
#include "engine/backend/vulkan/dispatch_tracer.h"
#include "engine/backend/vulkan/pipelines_made.h"
#include "engine/backend/vulkan/vulkan_status.h"

namespace opkit::vulkan {
namespace {

/// A layout of bindings 0 .. n-1.
Result<Owned<VkDescriptorSetLayout>> createSetLayout(const Device& device, std::span<const Access> accesses) {
  std::vector<VkDescriptorSetLayoutBinding> bindings;
  for (uint32_t i = 0; i < accesses.size(); ++i)
    bindings.push_back({i, descriptorType(accesses[i]), 1, VK_SHADER_STAGE_COMPUTE_BIT, nullptr});
  VkDescriptorSetLayoutCreateInfo info{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO};
  info.bindingCount = static_cast<uint32_t>(bindings.size());
  info.pBindings = bindings.data();
  VkDescriptorSetLayout layout = VK_NULL_HANDLE;
  OPKIT_VK_CREATE(device, device.vk().vkCreateDescriptorSetLayout(device.handle(), &info, nullptr, &layout),
                  "creating a descriptor set layout");
  return Owned<VkDescriptorSetLayout>(device, layout, device.vk().vkDestroyDescriptorSetLayout);
}

}  // namespace

Result<std::unique_ptr<Pipeline>> Pipeline::create(const Device& device, const ShaderCode& code,
                                                   std::span<const uint32_t> constants, VkPipelineCache driverCache,
                                                   const PipelineOptions& options) {
  OPKIT_TRY(requireShader(device.physical(), code, constants));
  auto pipeline = std::make_unique<Pipeline>();
  OPKIT_TRY(pipeline->createLayouts(device, code, options.traced));
  const VkPipelineCreateFlags flags =
      options.captureStatistics ? VkPipelineCreateFlags{VK_PIPELINE_CREATE_CAPTURE_STATISTICS_BIT_KHR} : 0;
  OPKIT_TRY(pipeline->createHandle(device, code, constants, driverCache, flags));
  return pipeline;
}

Status Pipeline::createLayouts(const Device& device, const ShaderCode& code, bool traced) {
  constexpr Access kTrace[] = {Access::ReadWrite};
  OPKIT_ASSIGN(setLayout_, createSetLayout(device, code.bindings));
  if (traced) {
    OPKIT_ASSIGN(traceLayout_, createSetLayout(device, kTrace));
  }
  const VkDescriptorSetLayout layouts[] = {setLayout_.get(), traceLayout_.get()};
  const VkPushConstantRange range{VK_SHADER_STAGE_COMPUTE_BIT, 0, code.pushConstantBytes};
  VkPipelineLayoutCreateInfo info{VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO};
  info.setLayoutCount = traced ? 2 : 1;
  info.pSetLayouts = layouts;
  info.pushConstantRangeCount = code.pushConstantBytes > 0 ? 1 : 0;
  info.pPushConstantRanges = &range;
  VkPipelineLayout layout = VK_NULL_HANDLE;
  OPKIT_VK_CREATE(device, device.vk().vkCreatePipelineLayout(device.handle(), &info, nullptr, &layout),
                  "creating a pipeline layout");
  layout_ = Owned<VkPipelineLayout>(device, layout, device.vk().vkDestroyPipelineLayout);
  return Status::ok();
}

Status Pipeline::createHandle(const Device& device, const ShaderCode& code, std::span<const uint32_t> constants,
                              VkPipelineCache driverCache, VkPipelineCreateFlags flags) {
  VkShaderModuleCreateInfo moduleInfo{VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO};
  moduleInfo.codeSize = code.spirv.size_bytes();
  moduleInfo.pCode = code.spirv.data();
  VkShaderModule module = VK_NULL_HANDLE;
  OPKIT_VK_CREATE(device, device.vk().vkCreateShaderModule(device.handle(), &moduleInfo, nullptr, &module),
                  "loading a shader");
  const Owned<VkShaderModule> moduleOwner(device, module, device.vk().vkDestroyShaderModule);

  std::vector<VkSpecializationMapEntry> entries;
  for (uint32_t i = 0; i < constants.size(); ++i)
    entries.push_back({i, i * static_cast<uint32_t>(sizeof(uint32_t)), sizeof(uint32_t)});
  const VkSpecializationInfo specialization{static_cast<uint32_t>(entries.size()), entries.data(),
                                            constants.size_bytes(), constants.data()};
  VkComputePipelineCreateInfo info{VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO};
  info.flags = flags;
  info.stage.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO;
  info.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
  info.stage.module = module;
  info.stage.pName = "main";
  info.stage.pSpecializationInfo = &specialization;
  info.layout = layout_.get();
  VkPipeline handle = VK_NULL_HANDLE;
  OPKIT_VK_CREATE(device,
                  device.vk().vkCreateComputePipelines(device.handle(), driverCache, 1, &info, nullptr, &handle),
                  "creating a pipeline");
  handle_ = Owned<VkPipeline>(device, handle, device.vk().vkDestroyPipeline);
  return Status::ok();
}

PipelineCache::PipelineCache(std::shared_ptr<Device> device, std::filesystem::path path, std::string key)
    : device_(std::move(device)), path_(std::move(path)), key_(std::move(key)) {
  if (path_.empty()) return;
  CacheRead file = readCacheFile(path_, key_);
  if (!file.warning.empty()) warnAboutCache(file.warning);
  if (file.payload) loaded_ = *std::move(file.payload);
}

/// The driver itself ignores data of another driver. Data that it rejects must not be an error.
Status PipelineCache::createDriverCache() {
  const VolkDeviceTable& vk = device_->vk();
  VkPipelineCacheCreateInfo info{VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO};
  info.initialDataSize = loaded_.size();
  info.pInitialData = loaded_.data();
  VkPipelineCache cache = VK_NULL_HANDLE;
  if (loaded_.empty() || vk.vkCreatePipelineCache(device_->handle(), &info, nullptr, &cache) != VK_SUCCESS) {
    info.initialDataSize = 0;
    OPKIT_VK_CREATE(*device_, vk.vkCreatePipelineCache(device_->handle(), &info, nullptr, &cache), "creating a cache");
  }
  driverCache_ = Owned<VkPipelineCache>(*device_, cache, vk.vkDestroyPipelineCache);
  return Status::ok();
}

bool PipelineCache::isFirstUse(const Pipeline* pipeline, uint32_t kind) {
  const std::lock_guard<std::mutex> lock(mutex_);
  return used_.emplace(pipeline, kind).second;
}

Status PipelineCache::save() {
  const std::lock_guard<std::mutex> saving(saving_);
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (path_.empty() || !dirty_) return Status::ok();
    dirty_ = false;
  }
  const Status status = write();
  const std::lock_guard<std::mutex> lock(mutex_);
  dirty_ = dirty_ || !status.isOk();
  return status;
}

/// The driver synchronises its cache with threads that compile.
Status PipelineCache::write() const {
  const VolkDeviceTable& vk = device_->vk();
  size_t bytes = 0;
  OPKIT_VK(vk.vkGetPipelineCacheData(device_->handle(), driverCache_.get(), &bytes, nullptr), "reading the cache");
  std::vector<std::byte> data(bytes);
  const VkResult read = vk.vkGetPipelineCacheData(device_->handle(), driverCache_.get(), &bytes, data.data());
  if (read == VK_INCOMPLETE) return Status::ok();  // another thread has compiled meanwhile, and will save
  OPKIT_VK(read, "reading the cache");
  data.resize(bytes);
  return writeCacheFile(path_, key_, data);
}

bool PipelineCache::captureStatistics() {
  const std::lock_guard<std::mutex> lock(mutex_);
  captures_ = device_->physical().pipelineStatistics;
  return captures_;
}

std::map<std::string, std::vector<PipelineStatistic>> PipelineCache::statistics() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return statistics_;
}

void PipelineCache::setSource(ShaderSource source) {
  const std::lock_guard<std::mutex> lock(mutex_);
  source_ = std::move(source);
}

void PipelineCache::setTracer(DispatchTracer* tracer) {
  const std::lock_guard<std::mutex> lock(mutex_);
  tracer_ = tracer;
}

/// The shader to compile and its identity.
std::pair<ShaderCode, PipelineCache::Key> PipelineCache::sourceOf(const ShaderCode& built,
                                                                  std::span<const uint32_t> constants) const {
  ShaderCode code = built;
  if (source_) code.spirv = source_(built);
  DispatchTracer* const tracer = tracer_;
  if (tracer) code.spirv = tracer->instrument(code);
  const bool replaced = code.spirv.data() != built.spirv.data();
  return {code,
          {replaced ? nullptr : built.spirv.data(),
           replaced ? XXH3_64bits(code.spirv.data(), code.spirv.size_bytes()) : 0,
           tracer != nullptr,
           {constants.begin(), constants.end()}}};
}

Status PipelineCache::check(const ShaderCode& built, std::span<const uint32_t> constants) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto [code, key] = sourceOf(built, constants);
  const auto found = pipelines_.find(key);
  return found != pipelines_.end() && found->second->made ? Status::ok()
                                                          : requireShader(device_->physical(), code, constants);
}

Result<PipelineCache::Entry> PipelineCache::get(const ShaderCode& built, std::span<const uint32_t> constants) {
  ShaderCode code = built;
  std::vector<uint32_t> replaced;  // the source may reuse its words
  bool traced = false;
  std::shared_ptr<Slot> slot;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto [source, key] = sourceOf(built, constants);
    if (!driverCache_) OPKIT_TRY(createDriverCache());
    std::shared_ptr<Slot>& known = pipelines_[key];
    if (!known) known = std::make_shared<Slot>();
    code = source, traced = key.traced, slot = known;
    if (!key.built) {
      replaced.assign(source.spirv.begin(), source.spirv.end());
      code.spirv = replaced;
    }
  }
  const std::lock_guard<std::mutex> making(slot->making);
  if (slot->made) return Entry{slot->pipeline.get(), false};
  auto pipeline = compile(code, constants, traced);
  if (!pipeline) return pipeline.error().withContext(code.name);
  slot->pipeline = *std::move(pipeline);
  slot->made = true;
  return Entry{slot->pipeline.get(), true};
}

Result<std::unique_ptr<Pipeline>> PipelineCache::compile(const ShaderCode& code, std::span<const uint32_t> constants,
                                                         bool traced) {
  const MakingTimer timer(1);
  const bool captures = captures_;
  OPKIT_ASSIGN(auto pipeline, Pipeline::create(*device_, code, constants, driverCache_.get(),
                                               {.captureStatistics = captures, .traced = traced}));
  std::vector<PipelineStatistic> statistics;
  if (captures) {
    OPKIT_ASSIGN(statistics, statisticsOf(*device_, pipeline->handle()));
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  if (captures) statistics_[code.name] = std::move(statistics);
  dirty_ = true;
  return pipeline;
}

}  // namespace opkit::vulkan
