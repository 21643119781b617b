// PipelineCache: the compute pipelines of a device, each made once per (shader variant, specialisation).
//
// Owned by the Runtime, so that sessions share pipelines. The driver's compiled code is kept in a file between
// processes. Thread-safe; a pipeline lives as long as the cache. While one is compiled, or the file is written, only
// threads that ask for the same wait.
#pragma once

#include <atomic>
#include <filesystem>
#include <map>
#include <mutex>
#include <set>
#include <vector>

#include "engine/backend/vulkan/device.h"
#include "engine/backend/vulkan/pipeline_statistics.h"
#include "engine/backend/vulkan/shader_code.h"

namespace opkit::vulkan {

class DispatchTracer;

/// How pipelines are made, beside shader and constants.
struct PipelineOptions {
  bool captureStatistics = false;
  bool traced = false;  // has the set of a DispatchTracer
};

class Pipeline {
 public:
  /// Unsupported names a feature that the shader needs and the device lacks.
  static Result<std::unique_ptr<Pipeline>> create(const Device& device, const ShaderCode& code,
                                                  std::span<const uint32_t> constants, VkPipelineCache driverCache,
                                                  const PipelineOptions& options = {});

  VkPipeline handle() const { return handle_.get(); }
  VkPipelineLayout layout() const { return layout_.get(); }
  VkDescriptorSetLayout setLayout() const { return setLayout_.get(); }
  /// Null without a DispatchTracer.
  VkDescriptorSetLayout traceLayout() const { return traceLayout_.get(); }

 private:
  Status createLayouts(const Device& device, const ShaderCode& code, bool traced);
  Status createHandle(const Device& device, const ShaderCode& code, std::span<const uint32_t> constants,
                      VkPipelineCache driverCache, VkPipelineCreateFlags flags);

  Owned<VkDescriptorSetLayout> setLayout_;
  Owned<VkDescriptorSetLayout> traceLayout_;
  Owned<VkPipelineLayout> layout_;
  Owned<VkPipeline> handle_;
};

class PipelineCache {
 public:
  /// Loads what save() wrote to `path` under the same key. An empty path means no file.
  PipelineCache(std::shared_ptr<Device> device, std::filesystem::path path, std::string key);

  /// See VulkanRuntime::setShaderSource.
  void setSource(ShaderSource source);
  /// See VulkanRuntime::setTracer.
  void setTracer(DispatchTracer* tracer);
  DispatchTracer* tracer() const { return tracer_; }
  /// From now on statistics() returns the driver's data for new pipelines. False if the driver has none.
  bool captureStatistics();
  /// Keyed by the name of the shader variant; of the last specialisation made.
  std::map<std::string, std::vector<PipelineStatistic>> statistics() const;

  struct Entry {
    const Pipeline* pipeline;
    bool created;  // by this call
  };
  Result<Entry> get(const ShaderCode& built, std::span<const uint32_t> constants);
  /// OK if the device can run it, as get() would check. Creates nothing.
  Status check(const ShaderCode& built, std::span<const uint32_t> constants) const;

  /// Whether this is the first use of a pipeline with bindings of this kind. A driver may compile anew for each kind.
  /// Lavapipe does: separately for images and texel buffers with extents that are powers of two and for others.
  bool isFirstUse(const Pipeline* pipeline, uint32_t kind);

  /// Writes the driver's data if pipelines were created since the last save.
  Status save();
  /// Bytes of the driver's data that came from the file.
  size_t loadedBytes() const { return loaded_.size(); }

 private:
  Status createDriverCache();
  Status write() const;
  Result<std::unique_ptr<Pipeline>> compile(const ShaderCode& code, std::span<const uint32_t> constants, bool traced);

  // The constant address of the build's SPIR-V identifies a variant. A replaced shader has no address here, since
  // different words may use the same one; a hash of its words identifies it.
  struct Key {
    const uint32_t* built = nullptr;
    uint64_t replaced = 0;
    bool traced = false;
    std::vector<uint32_t> constants;
    auto operator<=>(const Key&) const = default;
  };
  struct Slot {
    std::mutex making;
    std::unique_ptr<Pipeline> pipeline;
    std::atomic<bool> made = false;  // for readers that do not wait
  };
  std::pair<ShaderCode, Key> sourceOf(const ShaderCode& built, std::span<const uint32_t> constants) const;

  std::shared_ptr<Device> device_;
  std::filesystem::path path_;
  std::string key_;
  std::vector<std::byte> loaded_;
  std::mutex saving_;         // of the file; locked before the next
  mutable std::mutex mutex_;  // of what follows, never held for long
  bool dirty_ = false;
  std::atomic<bool> captures_ = false;
  std::map<std::string, std::vector<PipelineStatistic>> statistics_;
  ShaderSource source_;  // null: shaders come from the build
  std::atomic<DispatchTracer*> tracer_ = nullptr;
  Owned<VkPipelineCache> driverCache_;
  std::map<Key, std::shared_ptr<Slot>> pipelines_;
  std::set<std::pair<const Pipeline*, uint32_t>> used_;
};

}  // namespace opkit::vulkan
