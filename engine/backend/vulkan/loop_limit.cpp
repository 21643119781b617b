#include "engine/backend/vulkan/loop_limit.h"

#include <charconv>
#include <map>
#include <mutex>
#include <optional>

#include "engine/backend/cache_file.h"
#include "engine/backend/vulkan/recording.h"
#include "engine/backend/vulkan/vulkan_buffer.h"
#include "shaders/loop/loop_count.h"

namespace opkit::vulkan {
namespace {

constexpr uint32_t kWanted = uint32_t{1} << 24;  // beyond this, loops count as unlimited

/// Outside any Backend, so that counters and plans do not change.
Result<uint64_t> measure(const std::shared_ptr<Device>& device, PipelineCache& pipelines) {
  using Shader = shaders::LoopCount;
  OPKIT_ASSIGN(std::shared_ptr<CommandPool> pool, CommandPool::create(device));
  OPKIT_ASSIGN(const Owned<VkFence> fence, createFence(*device));
  OPKIT_ASSIGN(const std::shared_ptr<VulkanBuffer> buffer,
               VulkanBuffer::create(device, sizeof(uint32_t), MemoryUse::Staging));
  const Tensor made{{DType::UInt32, {1}}, buffer, 0, 0};
  const Tensor* const tensors[] = {&made};
  std::array<std::byte, Shader::kPushConstantBytes> push;
  OPKIT_TRY((Shader::PushConstants{.wanted = kWanted, .seed = 1}.pack(push)));

  BackendCounters counters;
  ImageSet images(device);
  const RecordingContext context{.device = device,
                                 .deviceClass = device->physical().deviceClass,
                                 .pipelines = &pipelines,
                                 .pool = std::move(pool),
                                 .counters = &counters,
                                 .images = &images};
  OPKIT_ASSIGN(const std::unique_ptr<CommandRecording> recording, CommandRecording::create(context));
  OPKIT_TRY(recording->dispatch(Shader::code({}), tensors, push, {}, {1, 1, 1}));
  OPKIT_TRY(recording->finish(fence.get()));
  OPKIT_TRY(recording->run(fence.get()));
  const uint32_t count = made.data<uint32_t>()[0];
  return count >= kWanted ? UINT64_MAX : uint64_t{count};
}

std::optional<uint64_t> readFrom(const std::filesystem::path& file, const std::string& key) {
  if (file.empty()) return std::nullopt;
  const CacheRead read = readCacheFile(file, key);
  if (!read.warning.empty()) warnAboutCache(read.warning);
  if (!read.payload) return std::nullopt;
  const auto* text = reinterpret_cast<const char*>(read.payload->data());
  uint64_t limit = 0;
  const auto parsed = std::from_chars(text, text + read.payload->size(), limit);
  return parsed.ec == std::errc() && limit > 0 ? std::optional(limit) : std::nullopt;
}

}  // namespace

Result<uint64_t> loopIterations(const std::shared_ptr<Device>& device, PipelineCache& pipelines,
                                const std::filesystem::path& file, const std::string& key) {
  static std::mutex mutex;
  static std::map<std::string, uint64_t> known;  // in this process
  const std::lock_guard<std::mutex> lock(mutex);
  const std::optional<uint64_t> stored = readFrom(file, key);
  if (stored) return *stored;
  auto found = known.find(key);
  if (found == known.end()) {
    const Result<uint64_t> measured = measure(device, pipelines);
    if (!measured) return measured.error().withContext("measuring how many iterations loops may make");
    found = known.emplace(key, *measured).first;
  }
  const std::string text = std::to_string(found->second);
  if (!file.empty())
    if (const Status written = writeCacheFile(file, key, std::as_bytes(std::span(text))); !written.isOk())
      warnAboutCache(written.message());
  return found->second;
}

}  // namespace opkit::vulkan
