#include "engine/backend/vulkan/vulkan_backend.h"

#include <algorithm>

#include "engine/backend/class_variations.h"
#include "engine/backend/guarded_tensor.h"
#include "engine/backend/vulkan/dispatch_tracer.h"
#include "engine/backend/vulkan/image_conversion.h"
#include "engine/backend/vulkan/image_guard.h"
#include "engine/backend/vulkan/vulkan_loop.h"
#include "engine/backend/vulkan/vulkan_raster.h"
#include "engine/backend/vulkan/vulkan_recorder.h"
#include "engine/backend/vulkan/vulkan_status.h"
#include "engine/op/internal_operators.h"
#include "engine/op/op_registry.h"

namespace opkit::vulkan {
namespace {

constexpr size_t kStagingBytes = size_t{16} << 20;
// Vector loads of up to 16 bytes never straddle a tensor, and tensors do not share cache lines.
constexpr size_t kMinAlignment = 64;

DeviceCaps capsOf(const PhysicalDevice& physical, const DeviceClass& deviceClass) {
  const VkPhysicalDeviceLimits& limits = physical.properties.limits;
  return {.storage8 = physical.storage8,
          .storage16 = physical.storage16,
          .int64 = physical.int64,
          .byteDots = physical.byteDots,
          .maxTensorBytes = std::min<uint64_t>(limits.maxStorageBufferRange, physical.maxAllocationBytes),
          .maxTexels = limits.maxTexelBufferElements,
          .workGroup = std::min(limits.maxComputeWorkGroupInvocations, limits.maxComputeWorkGroupSize[0]),
          .sharedBytes = limits.maxComputeSharedMemorySize,
          .deviceClass = &deviceClass};
}

/// Elements [first, first + count) of a tensor as a flat tensor.
Tensor slice(const Tensor& tensor, int64_t first, int64_t count) {
  return {{tensor.desc.dtype, {count}}, tensor.buffer, tensor.offsetBytes + bytesOf(tensor.desc.dtype, first), 0};
}

}  // namespace

Result<std::unique_ptr<Backend>> VulkanBackend::create(std::shared_ptr<VulkanRuntime> runtime,
                                                       const OpRegistry& registry, const BackendConfig& config) {
  std::unique_ptr<VulkanBackend> backend(new VulkanBackend(std::move(runtime), registry, config));
  OPKIT_TRY(backend->start());
  return std::unique_ptr<Backend>(std::move(backend));
}

VulkanBackend::VulkanBackend(std::shared_ptr<VulkanRuntime> runtime, const OpRegistry& registry,
                             const BackendConfig& config)
    : runtime_(std::move(runtime)),
      registry_(&registry),
      config_(config),
      alignment_(std::max<size_t>({runtime_->vulkanDevice()->limits().minStorageBufferOffsetAlignment,
                                   runtime_->vulkanDevice()->limits().minTexelBufferOffsetAlignment, kMinAlignment})),
      tuner_(*this, config.tune, config.alternative),
      share_(config.share ? config.share : std::make_shared<BackendShare>()) {
  const DeviceCaps own = capsOf(runtime_->vulkanDevice()->physical(), runtime_->deviceClass());
  for (const ClassVariation& variation : variationsOf(*own.deviceClass)) {
    varied_.push_back(own);
    varied_.back().loopIterations = runtime_->loopIterations();
    if (varied_.size() > 1) varied_.back().deviceClass = &variation.figures;
  }
  encoding_ = varied_.data();
}

VulkanBackend::~VulkanBackend() { runtime_->saveCaches(); }

Status VulkanBackend::start() {
  const std::shared_ptr<Device>& device = runtime_->vulkanDevice();
  OPKIT_ASSIGN(std::shared_ptr<CommandPool> pool, CommandPool::create(device));
  context_ = {.device = device,
              .deviceClass = &runtime_->deviceClass(),
              .pipelines = &runtime_->pipelines(),
              .pool = std::move(pool),
              .counters = &counters(),
              .timestamps = config_.deviceTimestamps && device->physical().timestampBits > 0};
  OPKIT_ASSIGN(fence_, createFence(*device));
  OPKIT_TRY(startImages());
  return device->physical().unified ? Status::ok() : startStaging();
}

/// All stages and bodies of a session copy through one buffer, in turn.
Status VulkanBackend::startStaging() {
  const std::lock_guard lock(share_->making);
  if (!share_->staging) {
    OPKIT_ASSIGN(share_->staging, VulkanBuffer::create(context_.device, kStagingBytes, MemoryUse::Staging));
  }
  staging_ = std::static_pointer_cast<VulkanBuffer>(share_->staging);
  return Status::ok();
}

/// Images take the memory that was planned for tensors, so its alignment must suit both.
Status VulkanBackend::startImages() {
  const std::shared_ptr<Device>& device = context_.device;
  if (config_.storage == Storage::Buffer ||
      (config_.storage == Storage::Auto && !runtime_->deviceClass().prefersImages))
    return Status::ok();
  if (!device->physical().imageRobustness) {  // kernels load outside images, where padding is
    if (config_.storage == Storage::Auto) return Status::ok();
    return Status::unsupportedByDevice("vulkan: {} lacks VK_EXT_image_robustness, which images need",
                                       device->physical().info.name);
  }
  const Result<VkMemoryRequirements> needed = imageRequirements(*device, {DType::Float32, {1, 4, 16, 16}}, false);
  if (!needed) return needed.error();
  const Result<Device::MemoryType> type = device->memoryType(MemoryUse::Tensor, ~0u);
  if (!type || !(needed->memoryTypeBits >> type->index & 1u)) {
    if (config_.storage == Storage::Auto) return Status::ok();
    return Status::unsupportedByDevice("vulkan: {} keeps images in other memory than buffers",
                                       device->physical().info.name);
  }
  for (DeviceCaps& caps : varied_) caps.imageExtent = device->limits().maxImageDimension2D;
  alignment_ = std::max<size_t>({alignment_, needed->alignment, device->limits().bufferImageGranularity});
  return Status::ok();
}

Result<size_t> VulkanBackend::storedBytes(const Tensor& tensor) const {
  if (tensor.layout != Layout::NC4HW4) return tensor.sizeBytes();
  OPKIT_ASSIGN(const VkMemoryRequirements needed,
               imageRequirements(*context_.device, tensor.desc, config_.guardBytes > 0));
  return static_cast<size_t>(needed.size);
}

const std::string& VulkanBackend::name() const {
  static const std::string name = "vulkan";
  return name;
}

std::span<const Creator> VulkanBackend::creators(const OpDef& def) const {
  return tables_.of(*registry_, name(), def, [&](std::span<const Creator>) {
    if (&def == &rasterCard()) return rasterCreators();
    if (&def == &convertCard()) return std::vector{conversionCreator()};
    return def.loop ? std::vector{loopCreator()} : std::vector<Creator>();
  });
}

Result<std::shared_ptr<Buffer>> VulkanBackend::allocate(size_t sizeBytes) {
  ++counters().allocations;
  OPKIT_ASSIGN(std::shared_ptr<Buffer> buffer,
               VulkanBuffer::create(runtime_->vulkanDevice(), sizeBytes, MemoryUse::Tensor));
  return buffer;
}

DType VulkanBackend::storageDType(DType dtype) const {
  const bool half = config_.precision != Precision::High && caps().storage16;
  return half && dtype == DType::Float32 ? DType::Float16 : dtype;
}

Status VulkanBackend::copyStaged(const std::shared_ptr<const VulkanBuffer>& buffer, size_t offsetBytes,
                                 size_t sizeBytes, bool toDevice) {
  HeldBuffers held;
  OPKIT_ASSIGN(CommandBuffer commands, CommandBuffer::create(context_.pool));
  const VolkDeviceTable& vk = context_.device->vk();
  const VkBufferCopy copy{toDevice ? 0 : offsetBytes, toDevice ? offsetBytes : 0, sizeBytes};
  const VkBuffer device = held.hold(buffer), staging = held.hold(staging_);
  vk.vkCmdCopyBuffer(commands.handle(), toDevice ? staging : device, toDevice ? device : staging, 1, &copy);
  const VkMemoryBarrier barrier{VK_STRUCTURE_TYPE_MEMORY_BARRIER, nullptr, VK_ACCESS_TRANSFER_WRITE_BIT,
                                VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT};
  vk.vkCmdPipelineBarrier(commands.handle(), VK_PIPELINE_STAGE_TRANSFER_BIT,
                          VK_PIPELINE_STAGE_ALL_COMMANDS_BIT | VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &barrier, 0, nullptr,
                          0, nullptr);
  OPKIT_TRY(commands.end());
  return context_.device->submitAndWait(commands.handle(), fence_.get());
}

/// Converts directly into mapped memory if there is any, else piece by piece through the staging buffer.
Status VulkanBackend::transfer(const Tensor& host, const Tensor& device, bool toDevice) {
  if (host.desc.shape != device.desc.shape)
    return Status::internal("vulkan: copy between {} and {}: shapes must be equal", host.desc.toString(),
                            device.desc.toString());
  if (!staging_) {
    toDevice ? convertElements(host, device) : convertElements(device, host);
    return Status::ok();
  }
  const std::lock_guard lock(share_->copying);
  const auto buffer = std::static_pointer_cast<const VulkanBuffer>(device.buffer);
  const int64_t total = host.desc.elements();
  const auto step = static_cast<int64_t>(kStagingBytes * 8) / bitsOf(device.desc.dtype);
  for (int64_t first = 0; first < total; first += step) {
    const int64_t count = std::min(step, total - first);
    const Tensor piece = slice(device, first, count);
    const Tensor staged{piece.desc, staging_, 0, 0};
    if (toDevice) convertElements(slice(host, first, count), staged);
    OPKIT_TRY(copyStaged(buffer, piece.offsetBytes, piece.sizeBytes(), toDevice));
    if (!toDevice) convertElements(staged, slice(host, first, count));
  }
  return Status::ok();
}

Status VulkanBackend::upload(const Tensor& host, const Tensor& device) {
  if (device.layout == Layout::NC4HW4)
    return Status::unsupported("vulkan: NC4HW4 tensors are images, which kernels fill and copies do not");
  if (staging_ && device.layout != Layout::NCHW)
    return Status::unsupported("vulkan: copies through staging memory keep NCHW, got {}", nameOf(device.layout));
  counters().bytesUploaded += device.sizeBytes();
  if (DispatchTracer* tracer = runtime_->pipelines().tracer()) tracer->onWrite(device);
  return transfer(host, device, true);
}

/// A copy of an image in a buffer.
Result<Tensor> VulkanBackend::unpacked(const Tensor& image) {
  Tensor plain{image.desc, nullptr, 0, 0};
  OPKIT_ASSIGN(plain.buffer, allocate(plain.sizeBytes()));
  const std::shared_ptr<ImageSet> images = ranImages_.lock();
  if (!images) return Status::internal("vulkan: an image is read before a run wrote it");
  OPKIT_ASSIGN(const std::unique_ptr<CommandRecording> recording, trialRecording(*images));
  ScratchMemory scratch;
  ShaderTables tables(*this);
  DataReports reports;
  CommandEncoder encoder(*this, *recording, scratch, tables, reports);
  OPKIT_TRY(encodeConversion(image, plain, caps(), encoder));
  OPKIT_TRY(recording->finish(fence_.get()));
  OPKIT_TRY(recording->run(fence_.get()));
  return plain;
}

Status VulkanBackend::download(const Tensor& device, const Tensor& host) {
  counters().bytesDownloaded += device.sizeBytes();
  if (device.layout == Layout::NCHW) return transfer(host, device, false);
  OPKIT_ASSIGN(const Tensor plain, unpacked(device));
  return transfer(host, plain, false);
}

Result<std::unique_ptr<CommandRecording>> VulkanBackend::trialRecording(ImageSet& images) {
  RecordingContext context = context_;
  context.images = &images;
  context.timestamps = false;
  return CommandRecording::create(context);
}

Result<std::unique_ptr<Recorder>> VulkanBackend::record() {
  return std::unique_ptr<Recorder>(std::make_unique<VulkanRecorder>(*this));
}

Status VulkanBackend::encode(VulkanExecution& execution, TensorList inputs, TensorList outputs, ScratchMemory& scratch,
                             ShaderTables& tables) {
  if (!recorder_) return Status::internal("vulkan: onResize outside of a Recorder");
  return recorder_->encode(execution, inputs, outputs, scratch, tables);
}

}  // namespace opkit::vulkan
