// VulkanBackend: a session's Vulkan side: memory, copies, recordings.
//
// A Recording is one command buffer, submitted as a whole. Runs wait for the device before they return. Used by one
// thread at a time; several Backends share a Runtime.
#pragma once

#include <map>
#include <set>
#include <utility>

#include "engine/backend/extra_creators.h"
#include "engine/backend/vulkan/command_encoder.h"
#include "engine/backend/vulkan/tuner.h"
#include "engine/backend/vulkan/vulkan_buffer.h"
#include "engine/backend/vulkan/vulkan_runtime.h"

namespace opkit::vulkan {

class VulkanRecorder;

class VulkanBackend final : public Backend {
 public:
  static Result<std::unique_ptr<Backend>> create(std::shared_ptr<VulkanRuntime> runtime, const OpRegistry& registry,
                                                 const BackendConfig& config);
  ~VulkanBackend() override;
  /// REQUIRES a Backend of this kind: kernels get theirs back.
  static VulkanBackend& of(Backend& backend) { return static_cast<VulkanBackend&>(backend); }

  const std::string& name() const override;
  std::span<const Creator> creators(const OpDef& def) const override;
  /// Within an EncodingAs, with the figures of its variation.
  const DeviceCaps& caps() const override { return *encoding_; }
  Result<std::shared_ptr<Buffer>> allocate(size_t sizeBytes) override;
  size_t alignment() const override { return alignment_; }
  DType storageDType(DType dtype) const override;
  Result<size_t> storedBytes(const Tensor& tensor) const override;

  Status upload(const Tensor& host, const Tensor& device) override;
  Status download(const Tensor& device, const Tensor& host) override;

  Result<std::unique_ptr<Recorder>> record() override;

  /// Records one Execution into the Recorder that resizes it. Internal outside of Recorder::add.
  Status encode(VulkanExecution& execution, TensorList inputs, TensorList outputs, ScratchMemory& scratch,
                ShaderTables& tables);
  size_t guardBytes() const { return config_.guardBytes; }
  /// From now on Recording::checkGuards also checks this constant.
  void watchGuards(const std::shared_ptr<const Tensor>& constant) { guarded_.insert(constant); }
  const Device& device() const { return *context_.device; }
  const std::shared_ptr<Device>& sharedDevice() const { return context_.device; }
  VulkanRuntime& runtime() { return *runtime_; }
  Tuner& tuner() { return tuner_; }
  /// The abilities with the figures of each of variationsOf the device's class; the first are the device's own.
  std::span<const DeviceCaps> variedCaps() const { return varied_; }
  /// A recording outside any plan, for the Tuner: finishTrial completes it, runTrial runs it any number of times.
  Result<std::unique_ptr<CommandRecording>> trialRecording(ImageSet& images);
  Status finishTrial(CommandRecording& recording) { return recording.finish(fence_.get()); }
  Status runTrial(CommandRecording& recording) {
    return context_.device->submitAndWait(recording.commands(), fence_.get());
  }

 private:
  friend class EncodingAs;
  friend class VulkanRecorder;
  friend class VulkanRecording;
  VulkanBackend(std::shared_ptr<VulkanRuntime> runtime, const OpRegistry& registry, const BackendConfig& config);
  Status start();
  Status startStaging();
  Status startImages();
  Result<Tensor> unpacked(const Tensor& image);
  Status transfer(const Tensor& host, const Tensor& device, bool toDevice);
  Status copyStaged(const std::shared_ptr<const VulkanBuffer>& buffer, size_t offsetBytes, size_t sizeBytes,
                    bool toDevice);

  std::shared_ptr<VulkanRuntime> runtime_;  // shared: device and pipelines of every session on it
  const OpRegistry* registry_;
  mutable CreatorTables tables_;  // filled on demand; a Backend is single-threaded
  BackendConfig config_;
  std::vector<DeviceCaps> varied_;  // never resized after start
  const DeviceCaps* encoding_ = nullptr;
  size_t alignment_ = 0;
  RecordingContext context_;
  Tuner tuner_;
  Owned<VkFence> fence_;
  std::shared_ptr<BackendShare> share_;                               // with the session's other Backends
  std::shared_ptr<VulkanBuffer> staging_;                             // of the share; null if tensors are mapped
  std::set<std::weak_ptr<const Tensor>, std::owner_less<>> guarded_;  // kept by the ConstantStore
  std::weak_ptr<ImageSet> ranImages_;                                 // of the Recording that ran last
  VulkanRecorder* recorder_ = nullptr;                                // that resizes an Execution now
};

/// As long as this lives, kernels see the figures of one variation of the device class.
class EncodingAs {
 public:
  EncodingAs(VulkanBackend& backend, size_t variation)
      : backend_(backend), before_(std::exchange(backend.encoding_, &backend.varied_[variation])) {}
  ~EncodingAs() { backend_.encoding_ = before_; }
  EncodingAs(const EncodingAs&) = delete;
  EncodingAs& operator=(const EncodingAs&) = delete;

 private:
  VulkanBackend& backend_;
  const DeviceCaps* before_;
};

}  // namespace opkit::vulkan
