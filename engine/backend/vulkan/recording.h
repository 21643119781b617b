// CommandRecording: one command buffer with everything its commands need, recorded at resize and submitted many times.
//
// Barriers are placed from the bytes that each command reads and writes. A recording keeps every buffer and image to
// which its commands refer, whoever else lets go of them. Used by one thread at a time.
#pragma once

#include <optional>

#include "engine/backend/vulkan/command_pool.h"
#include "engine/backend/vulkan/descriptor_allocator.h"
#include "engine/backend/vulkan/hazard_tracker.h"
#include "engine/backend/vulkan/pipeline_cache.h"
#include "engine/backend/vulkan/timestamp_pool.h"
#include "engine/backend/vulkan/vulkan_buffer.h"
#include "engine/backend/vulkan/vulkan_execution.h"
#include "engine/backend/vulkan/vulkan_image.h"

namespace opkit::vulkan {

struct TracedDispatch;

/// State shared by the recordings of one Backend. Borrowed; outlives them.
struct RecordingContext {
  std::shared_ptr<Device> device;
  const DeviceClass* deviceClass = nullptr;
  PipelineCache* pipelines = nullptr;
  std::shared_ptr<CommandPool> pool;
  BackendCounters* counters = nullptr;
  bool timestamps = false;
  ImageSet* images = nullptr;  // of the recordings that run in turn with this one
};

class CommandRecording {
 public:
  static Result<std::unique_ptr<CommandRecording>> create(const RecordingContext& context);

  /// Begin and end of one Execution: its commands are timed together.
  Status beginExecution();
  void endExecution();

  Status dispatch(const ShaderCode& code, std::span<const Tensor* const> tensors, std::span<const std::byte> push,
                  std::span<const uint32_t> constants, Groups groups);
  /// Makes an image readable, with any contents.
  Status initialise(const Tensor& image);
  /// REQUIRES sizeBytes() of the tensor to be a multiple of 4.
  Status fillZero(const Tensor& tensor);
  Status copyRuns(const Tensor& from, const Tensor& to, std::span<const ByteRun> runs);
  /// See Encoder::copyChannels.
  Status copyChannels(const Tensor& from, const Tensor& to, int64_t firstChannel);
  /// See Encoder::shortestRunBytes.
  size_t shortestRunBytes() const { return context_.deviceClass->shortestRunBytes; }
  HazardTracker& hazards() { return hazards_; }
  VkCommandBuffer commands() const { return commands_.handle(); }

  /// Ends the recording and makes the driver compile new pipelines.
  Status finish(VkFence fence);
  /// Submits and waits. REQUIRES finish().
  Status run(VkFence fence);
  /// Appends nanoseconds per Execution of the last run.
  Status readNs(std::vector<double>& lengths) const;

 private:
  explicit CommandRecording(const RecordingContext& context, CommandBuffer commands);
  /// Sets 0 and, under a DispatchTracer, 1.
  struct Sets {
    std::array<VkDescriptorSet, 2> list{};
    uint32_t count = 1;
  };
  void bind(VkCommandBuffer commands, const Pipeline& pipeline, const Sets& sets, std::span<const std::byte> push);
  Status warmUp(const Pipeline& pipeline, const Sets& sets, std::span<const std::byte> push,
                std::span<const VkImage> images);
  void traceWrite(const Tensor& tensor) const;
  Status addTraceSet(const Pipeline& pipeline, const TracedDispatch& dispatch, Sets& sets);
  static Result<std::shared_ptr<const VulkanBuffer>> bufferOf(const Tensor& tensor, const char* user);
  Result<VkDescriptorBufferInfo> describe(const Tensor& tensor, const char* user);
  Result<BufferBinding> bindingOf(const Tensor& tensor, Access access, const char* user);
  Result<VkBufferView> viewTexels(const Tensor& tensor, const VkDescriptorBufferInfo& buffer, const char* user);
  Result<VkImage> useImage(const Tensor& tensor, bool write, BufferBinding& binding);
  void useBuffer(const Tensor& tensor, bool write);
  void barrier(VkCommandBuffer commands, std::span<const VkImage> fresh = {});
  void placeBarrier();
  void fillGuards();

  RecordingContext context_;
  HeldBuffers buffers_;
  CommandBuffer commands_;
  std::optional<CommandBuffer> warmup_;  // empty dispatches of pipelines created during this recording
  DescriptorAllocator descriptors_;
  std::vector<Owned<VkBufferView>> views_;
  TimestampPool timestamps_;
  HazardTracker hazards_;
  std::vector<ByteAccess> accesses_;  // of the command being recorded
  std::vector<VkImage> fresh_;        // images that it initialises
  uint64_t dispatches_ = 0;
  bool ran_ = false;
};

}  // namespace opkit::vulkan
