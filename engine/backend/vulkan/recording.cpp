#include "engine/backend/vulkan/recording.h"

#include <algorithm>
#include <bit>

#include "engine/backend/vulkan/device_limits.h"
#include "engine/backend/vulkan/dispatch_tracer.h"
#include "engine/backend/vulkan/pipelines_made.h"
#include "engine/backend/vulkan/vulkan_status.h"

namespace opkit::vulkan {
namespace {

constexpr VkPipelineStageFlags kWork = VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT;
constexpr VkAccessFlags kWrites = VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_WRITE_BIT;
constexpr VkAccessFlags kReads = VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_TRANSFER_READ_BIT;

ByteAccess accessOf(const Tensor& tensor, bool write) {
  return {tensor.buffer.get(), tensor.offsetBytes, tensor.offsetBytes + tensor.sizeBytes(), write};
}

/// The properties of bindings for which a driver may compile anew (PipelineCache::isFirstUse): two bits per binding.
uint32_t kindOf(const ShaderCode& code, std::span<const Tensor* const> tensors) {
  uint32_t kind = 0;
  for (size_t i = 0; i < tensors.size(); ++i) {
    uint32_t bits = 0;
    if (isImage(code.bindings[i])) {
      const ImageShape shape(tensors[i]->desc.shape);
      bits = (std::has_single_bit(static_cast<uint64_t>(shape.columns())) ? 1u : 0u) |
             (std::has_single_bit(static_cast<uint64_t>(shape.rows())) ? 2u : 0u);
    } else if (code.bindings[i] == Access::Texel) {
      bits = std::has_single_bit(static_cast<uint64_t>(tensors[i]->desc.elements() / 4)) ? 1u : 0u;
    }
    kind |= bits << 2 * i;
  }
  return kind;
}

Status checkCall(const ShaderCode& code, size_t tensors, size_t pushBytes, size_t constants) {
  if (tensors == code.bindings.size() && pushBytes == code.pushConstantBytes &&
      constants == code.specializationConstants)
    return Status::ok();
  return Status::internal(
      "vulkan: {}: expected {} tensors, {} bytes of push constants and {} specialisation constants, got {}, {} and {}",
      code.name, code.bindings.size(), code.pushConstantBytes, code.specializationConstants, tensors, pushBytes,
      constants);
}

}  // namespace

Result<std::unique_ptr<CommandRecording>> CommandRecording::create(const RecordingContext& context) {
  OPKIT_ASSIGN(CommandBuffer commands, CommandBuffer::create(context.pool));
  return std::unique_ptr<CommandRecording>(new CommandRecording(context, std::move(commands)));
}

CommandRecording::CommandRecording(const RecordingContext& context, CommandBuffer commands)
    : context_(context), commands_(std::move(commands)), descriptors_(context.device), timestamps_(context.device) {}

Status CommandRecording::beginExecution() {
  return context_.timestamps ? timestamps_.begin(commands_.handle()) : Status::ok();
}

void CommandRecording::endExecution() {
  if (context_.timestamps) timestamps_.end(commands_.handle());
}

/// The buffer that holds the whole tensor.
Result<std::shared_ptr<const VulkanBuffer>> CommandRecording::bufferOf(const Tensor& tensor, const char* user) {
  auto buffer = std::dynamic_pointer_cast<const VulkanBuffer>(tensor.buffer);
  if (!buffer) return Status::internal("vulkan: {}: tensor {} is not on the device", user, tensor.desc.toString());
  if (tensor.offsetBytes + tensor.sizeBytes() > buffer->sizeBytes())
    return Status::internal("vulkan: {}: {} at offset {} ends after its buffer of {} bytes", user,
                            tensor.desc.toString(), tensor.offsetBytes, buffer->sizeBytes());
  return buffer;
}

/// The tensor's bytes as a descriptor. Guard bytes are included, so that a store past the end lands in the canary
/// instead of being dropped by the device.
Result<VkDescriptorBufferInfo> CommandRecording::describe(const Tensor& tensor, const char* user) {
  OPKIT_ASSIGN(const auto buffer, bufferOf(tensor, user));
  const VkPhysicalDeviceLimits& limits = context_.device->limits();
  if (tensor.offsetBytes % limits.minStorageBufferOffsetAlignment != 0)
    return Status::internal("vulkan: {}: offset {} of {} is not a multiple of {}", user, tensor.offsetBytes,
                            tensor.desc.toString(), limits.minStorageBufferOffsetAlignment);
  size_t range = std::max<size_t>((tensor.sizeBytes() + tensor.guardBytes + 3) / 4 * 4, 4);
  range = std::min(
      {range, buffer->allocatedBytes() - tensor.offsetBytes, static_cast<size_t>(limits.maxStorageBufferRange)});
  return VkDescriptorBufferInfo{buffers_.hold(buffer), tensor.offsetBytes, range};
}

/// Also remembers the access for placeBarrier().
Result<BufferBinding> CommandRecording::bindingOf(const Tensor& tensor, Access access, const char* user) {
  if (isImage(access) != (tensor.layout == Layout::NC4HW4))
    return Status::internal("vulkan: {}: expected {} as {}, got it in {}", user, tensor.desc.toString(),
                            isImage(access) ? "an image" : "a buffer", nameOf(tensor.layout));
  OPKIT_TRY(requireBinding(context_.device->physical(), tensor, access, user));
  BufferBinding binding{descriptorType(access), {}, VK_NULL_HANDLE, {}};
  if (isImage(access)) {
    OPKIT_TRY(useImage(tensor, writes(access), binding).error().withContext(user));
    return binding;
  }
  OPKIT_ASSIGN(binding.buffer, describe(tensor, user));
  useBuffer(tensor, writes(access));
  if (access == Access::Texel) {
    OPKIT_ASSIGN(binding.view, viewTexels(tensor, binding.buffer, user));
  }
  return binding;
}

void CommandRecording::useBuffer(const Tensor& tensor, bool write) {
  accesses_.push_back(accessOf(tensor, write));
  if (write) context_.images->overwrite(accesses_.back());
}

Result<VkImage> CommandRecording::useImage(const Tensor& tensor, bool write, BufferBinding& binding) {
  OPKIT_ASSIGN(const ImageSet::Use use, context_.images->use(tensor, write));
  accesses_.push_back(use.access);
  if (use.initialise) fresh_.push_back(use.image->handle.get());
  binding.image = {VK_NULL_HANDLE, use.image->view.get(), VK_IMAGE_LAYOUT_GENERAL};
  OPKIT_ASSIGN(binding.image.sampler, context_.images->sampler());
  return use.image->handle.get();
}

/// The tensor as a texel buffer of four floats or four u32 each.
Result<VkBufferView> CommandRecording::viewTexels(const Tensor& tensor, const VkDescriptorBufferInfo& buffer,
                                                  const char* user) {
  const DType dtype = tensor.desc.dtype;
  const VkFormat format = dtype == DType::Float16   ? VK_FORMAT_R16G16B16A16_SFLOAT
                          : dtype == DType::Float32 ? VK_FORMAT_R32G32B32A32_SFLOAT
                          : dtype == DType::UInt32  ? VK_FORMAT_R32G32B32A32_UINT
                                                    : VK_FORMAT_UNDEFINED;
  const VkDeviceSize alignment = context_.device->limits().minTexelBufferOffsetAlignment;
  if (tensor.desc.elements() % 4 != 0 || tensor.desc.elements() == 0 || buffer.offset % alignment != 0 ||
      format == VK_FORMAT_UNDEFINED)
    return Status::internal("vulkan: {}: expected vec4s of f32, f16 or u32 at a multiple of {} bytes, got {} at {}",
                            user, alignment, tensor.desc.toString(), buffer.offset);
  VkBufferViewCreateInfo info{VK_STRUCTURE_TYPE_BUFFER_VIEW_CREATE_INFO};
  info.buffer = buffer.buffer;
  info.format = format;
  info.offset = buffer.offset;
  info.range = tensor.sizeBytes();
  VkBufferView view = VK_NULL_HANDLE;
  OPKIT_VK_CREATE(*context_.device,
                  context_.device->vk().vkCreateBufferView(context_.device->handle(), &info, nullptr, &view),
                  "viewing a buffer as texels");
  views_.emplace_back(*context_.device, view, context_.device->vk().vkDestroyBufferView);
  return view;
}

void CommandRecording::barrier(VkCommandBuffer commands, std::span<const VkImage> fresh) {
  const VkMemoryBarrier barrier{VK_STRUCTURE_TYPE_MEMORY_BARRIER, nullptr, kWrites, kReads | kWrites};
  std::vector<VkImageMemoryBarrier> images;
  for (const VkImage image : fresh) {
    VkImageMemoryBarrier begin{VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER, nullptr, kReads | kWrites, kReads | kWrites};
    begin.oldLayout = VK_IMAGE_LAYOUT_UNDEFINED;
    begin.newLayout = VK_IMAGE_LAYOUT_GENERAL;
    begin.srcQueueFamilyIndex = begin.dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED;
    begin.image = image;
    begin.subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
    images.push_back(begin);
  }
  context_.device->vk().vkCmdPipelineBarrier(commands, kWork, kWork, 0, 1, &barrier, 0, nullptr,
                                             static_cast<uint32_t>(images.size()), images.data());
}

/// Places the barrier that the next command needs; its accesses are known.
void CommandRecording::placeBarrier() {
  if (!fresh_.empty()) hazards_.barrierPlaced();
  if (hazards_.add(accesses_) || !fresh_.empty()) barrier(commands_.handle(), fresh_);
  if (context_.images && context_.images->guarded()) fillGuards();
  accesses_.clear();
  fresh_.clear();
}

/// Fills the images that begin here with NaN, of which the guard must remain.
void CommandRecording::fillGuards() {
  if (fresh_.empty()) return;
  VkClearColorValue poison{};
  std::fill(std::begin(poison.uint32), std::end(poison.uint32), ~0u);
  constexpr VkImageSubresourceRange kWhole{VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
  for (const VkImage image : fresh_)
    context_.device->vk().vkCmdClearColorImage(commands_.handle(), image, VK_IMAGE_LAYOUT_GENERAL, &poison, 1, &kWhole);
  barrier(commands_.handle());
}

void CommandRecording::bind(VkCommandBuffer commands, const Pipeline& pipeline, const Sets& sets,
                            std::span<const std::byte> push) {
  const VolkDeviceTable& vk = context_.device->vk();
  vk.vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline.handle());
  vk.vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline.layout(), 0, sets.count,
                             sets.list.data(), 0, nullptr);
  if (!push.empty())
    vk.vkCmdPushConstants(commands, pipeline.layout(), VK_SHADER_STAGE_COMPUTE_BIT, 0,
                          static_cast<uint32_t>(push.size()), push.data());
}

/// The images lose their contents; at resize they have none.
Status CommandRecording::warmUp(const Pipeline& pipeline, const Sets& sets, std::span<const std::byte> push,
                                std::span<const VkImage> images) {
  if (!warmup_) {
    OPKIT_ASSIGN(CommandBuffer commands, CommandBuffer::create(context_.pool));
    warmup_.emplace(std::move(commands));
  }
  barrier(warmup_->handle(), images);  // for the validation layers, which do not see that the dispatch is empty
  bind(warmup_->handle(), pipeline, sets, push);
  context_.device->vk().vkCmdDispatch(warmup_->handle(), 0, 1, 1);
  return Status::ok();
}

void CommandRecording::traceWrite(const Tensor& tensor) const {
  if (DispatchTracer* tracer = context_.pipelines->tracer()) tracer->onWrite(tensor);
}

Status CommandRecording::addTraceSet(const Pipeline& pipeline, const TracedDispatch& dispatch, Sets& sets) {
  DispatchTracer* tracer = context_.pipelines->tracer();
  if (!tracer) return Status::ok();
  OPKIT_ASSIGN(const auto buffer, tracer->bufferFor(dispatch, context_.device));
  const BufferBinding binding{VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, {buffers_.hold(buffer), 0, VK_WHOLE_SIZE}, {}, {}};
  OPKIT_ASSIGN(sets.list[1], descriptors_.allocate(pipeline.traceLayout(), {&binding, 1}));
  sets.count = 2;
  return Status::ok();
}

Status CommandRecording::dispatch(const ShaderCode& code, std::span<const Tensor* const> tensors,
                                  std::span<const std::byte> push, std::span<const uint32_t> constants, Groups groups) {
  if (groups.x == 0 || groups.y == 0 || groups.z == 0) return Status::ok();
  OPKIT_TRY(checkCall(code, tensors.size(), push.size(), constants.size()));
  OPKIT_TRY(requireGroups(context_.device->physical(), code, groups));
  accesses_.clear();
  fresh_.clear();
  std::vector<BufferBinding> bindings;
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (!tensors[i]) return Status::internal("vulkan: {}: binding {} is null", code.name, i);
    OPKIT_ASSIGN(const BufferBinding binding, bindingOf(*tensors[i], code.bindings[i], code.name));
    bindings.push_back(binding);
  }
  OPKIT_ASSIGN(const PipelineCache::Entry entry, context_.pipelines->get(code, constants));
  Sets sets;
  OPKIT_ASSIGN(sets.list[0], descriptors_.allocate(entry.pipeline->setLayout(), bindings));
  OPKIT_TRY(addTraceSet(*entry.pipeline, {code, constants, tensors, groups}, sets));
  if (entry.created) ++context_.counters->pipelinesCreated;
  if (context_.pipelines->isFirstUse(entry.pipeline, kindOf(code, tensors))) {
    std::vector<VkImage> images;
    for (size_t i = 0; i < tensors.size(); ++i)
      if (isImage(code.bindings[i])) {
        OPKIT_ASSIGN(const VulkanImage* image, context_.images->imageOf(*tensors[i]));
        images.push_back(image->handle.get());
      }
    OPKIT_TRY(warmUp(*entry.pipeline, sets, push, images));
  }
  placeBarrier();
  bind(commands_.handle(), *entry.pipeline, sets, push);
  context_.device->vk().vkCmdDispatch(commands_.handle(), groups.x, groups.y, groups.z);
  ++dispatches_;
  return Status::ok();
}

Status CommandRecording::initialise(const Tensor& image) {
  BufferBinding unused;
  OPKIT_TRY(useImage(image, true, unused).error());
  placeBarrier();
  return Status::ok();
}

Status CommandRecording::fillZero(const Tensor& tensor) {
  if (tensor.sizeBytes() == 0) return Status::ok();
  OPKIT_ASSIGN(const auto buffer, bufferOf(tensor, "fill"));
  accesses_.clear();
  fresh_.clear();
  useBuffer(tensor, true);
  traceWrite(tensor);
  placeBarrier();
  context_.device->vk().vkCmdFillBuffer(commands_.handle(), buffers_.hold(buffer), tensor.offsetBytes,
                                        tensor.sizeBytes(), 0);
  ++dispatches_;
  return Status::ok();
}

Status CommandRecording::copyRuns(const Tensor& from, const Tensor& to, std::span<const ByteRun> runs) {
  if (runs.empty()) return Status::ok();
  OPKIT_ASSIGN(const auto source, bufferOf(from, "copy"));
  OPKIT_ASSIGN(const auto target, bufferOf(to, "copy"));
  std::vector<VkBufferCopy> copies;
  copies.reserve(runs.size());
  for (const ByteRun& run : runs) {
    OPKIT_CHECK(run.from + run.sizeBytes <= from.sizeBytes() && run.to + run.sizeBytes <= to.sizeBytes());
    copies.push_back({from.offsetBytes + run.from, to.offsetBytes + run.to, run.sizeBytes});
  }
  accesses_.clear();
  fresh_.clear();
  useBuffer(from, false);
  useBuffer(to, true);
  for (const ByteRun& run : runs)
    traceWrite({{DType::UInt8, {static_cast<int64_t>(run.sizeBytes)}}, to.buffer, to.offsetBytes + run.to, 0});
  placeBarrier();
  context_.device->vk().vkCmdCopyBuffer(commands_.handle(), buffers_.hold(source), buffers_.hold(target),
                                        static_cast<uint32_t>(copies.size()), copies.data());
  ++dispatches_;
  return Status::ok();
}

Status CommandRecording::copyChannels(const Tensor& from, const Tensor& to, int64_t firstChannel) {
  const ImageShape source(from.desc.shape);
  const ImageShape target(to.desc.shape);
  OPKIT_CHECK(firstChannel % 4 == 0 && source.rows() == target.rows() && source.width == target.width);
  accesses_.clear();
  fresh_.clear();
  BufferBinding unused;
  OPKIT_ASSIGN(const VkImage read, useImage(from, false, unused));
  OPKIT_ASSIGN(const VkImage written, useImage(to, true, unused));
  placeBarrier();
  constexpr VkImageSubresourceLayers kLayers{VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1};
  const VkImageCopy copy{kLayers,
                         {0, 0, 0},
                         kLayers,
                         {static_cast<int32_t>(firstChannel / 4 * target.width), 0, 0},
                         {static_cast<uint32_t>(source.columns()), static_cast<uint32_t>(source.rows()), 1}};
  context_.device->vk().vkCmdCopyImage(commands_.handle(), read, VK_IMAGE_LAYOUT_GENERAL, written,
                                       VK_IMAGE_LAYOUT_GENERAL, 1, &copy);
  ++dispatches_;
  return Status::ok();
}

Status CommandRecording::finish(VkFence fence) {
  // Results become visible to the host and to later submissions.
  const VkMemoryBarrier visible{VK_STRUCTURE_TYPE_MEMORY_BARRIER, nullptr, kWrites,
                                kReads | kWrites | VK_ACCESS_HOST_READ_BIT};
  context_.device->vk().vkCmdPipelineBarrier(commands_.handle(), kWork, kWork | VK_PIPELINE_STAGE_HOST_BIT, 0, 1,
                                             &visible, 0, nullptr, 0, nullptr);
  OPKIT_TRY(commands_.end());
  if (!warmup_) return Status::ok();
  const MakingTimer timer(0);  // lavapipe compiles at a first dispatch
  OPKIT_TRY(warmup_->end());
  OPKIT_TRY(context_.device->submitAndWait(warmup_->handle(), fence));
  warmup_.reset();
  return Status::ok();
}

Status CommandRecording::run(VkFence fence) {
  if (dispatches_ > 0 || timestamps_.intervals() > 0) {
    OPKIT_TRY(context_.device->submitAndWait(commands_.handle(), fence));
    ++context_.counters->submits;
    context_.counters->dispatches += dispatches_;
  }
  ran_ = true;
  return Status::ok();
}

Status CommandRecording::readNs(std::vector<double>& lengths) const {
  if (!ran_) return Status::invalidArgument("vulkan: device times were asked for before the first run");
  return timestamps_.readNs(lengths);
}

}  // namespace opkit::vulkan
