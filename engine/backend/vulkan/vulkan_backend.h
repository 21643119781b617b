// VulkanBackend: a session's Vulkan side: memory, copies, recordings.
//
// Indirect mode records one command buffer per segment during resize and submits it in onExecuteEnd; direct mode
// records one per Execution and submits it in onExecute. Both wait for the device before they return. Used by one
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

/// Handle of what encode() recorded, for execute(). Valid until the plan's next onResizeBegin.
struct EncodedCommands {
  size_t recording = 0;
  uint64_t resize = 0;  // index of its recording, over all plans
};

class VulkanBackend final : public Backend {
 public:
  static Result<std::unique_ptr<Backend>> create(std::shared_ptr<VulkanRuntime> runtime, const OpRegistry& registry,
                                                 const BackendConfig& config);
  ~VulkanBackend() override;

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

  void selectPlan(size_t plan) override { plan_ = &plans_[plan]; }
  void dropPlan(size_t plan) override;
  Status onResizeBegin() override;
  Status beginSegment(size_t segment) override;
  Status endSegment(size_t segment) override;
  Status onExecuteEnd(size_t segment) override;
  Result<std::vector<double>> deviceTimesNs() override;
  Status checkGuards() override;

  /// Records one Execution. REQUIRES an open segment.
  Result<EncodedCommands> encode(VulkanExecution& execution, TensorList inputs, TensorList outputs,
                                 ScratchMemory& scratch, ShaderTables& tables);
  size_t guardBytes() const { return config_.guardBytes; }
  size_t plansKept() const { return plans_.size(); }
  /// From now on checkGuards() also checks this constant.
  void watchGuards(std::shared_ptr<const Tensor> constant);
  const Device& device() const { return *context_.device; }
  const std::shared_ptr<Device>& sharedDevice() const { return context_.device; }
  VulkanRuntime& runtime() { return *runtime_; }
  Tuner& tuner() { return tuner_; }
  /// The abilities with the figures of each of variationsOf the device's class; the first are the device's own.
  std::span<const DeviceCaps> variedCaps() const { return varied_; }
  /// A recording outside any plan, for the Tuner: finishTrial completes it, runTrial runs it any number of times.
  Result<std::unique_ptr<Recording>> trialRecording(ImageSet& images);
  Status finishTrial(Recording& recording) { return recording.finish(fence_.get()); }
  Status runTrial(Recording& recording) { return context_.device->submitAndWait(recording.commands(), fence_.get()); }
  /// Runs the encoded commands in direct mode; in indirect mode the end of the segment runs them.
  Status execute(const EncodedCommands& commands);

 private:
  friend class EncodingAs;
  struct Plan {
    uint64_t resize = 0;
    std::unique_ptr<ImageSet> images;
    std::vector<std::unique_ptr<Recording>> recordings;  // in the order of their Executions
    std::vector<Recording*> segments;                    // indirect mode; null until recorded
    DataReports reports;
    std::vector<Tensor> gaps;  // between parts of scratch memory, if guarded
  };

  VulkanBackend(std::shared_ptr<VulkanRuntime> runtime, const OpRegistry& registry, const BackendConfig& config);
  Status start();
  Status startStaging();
  Status startImages();
  Result<Tensor> unpacked(const Tensor& image);
  Result<Recording*> addRecording();
  Status transfer(const Tensor& host, const Tensor& device, bool toDevice);
  Status copyStaged(const VulkanBuffer& buffer, size_t offsetBytes, size_t sizeBytes, bool toDevice);

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
  std::shared_ptr<BackendShare> share_;              // with the session's other Backends
  std::shared_ptr<VulkanBuffer> staging_;            // of the share; null if tensors are mapped
  std::set<std::shared_ptr<const Tensor>> guarded_;  // shared with the ConstantStore
  uint64_t resizes_ = 0;
  std::map<size_t, Plan> plans_;
  Plan none_;                  // stands for one that was dropped
  Plan* plan_ = &plans_[0];    // the selected one
  Recording* open_ = nullptr;  // the segment being recorded, indirect mode
  bool inSegment_ = false;
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
