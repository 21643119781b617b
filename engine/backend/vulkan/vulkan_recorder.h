// VulkanRecorder: the recordings of one plan, a command buffer each. Its recordings see tensors of Layout::NC4HW4
// through the same images.
#pragma once

#include "engine/backend/vulkan/data_reports.h"
#include "engine/backend/vulkan/vulkan_backend.h"

namespace opkit::vulkan {

class VulkanRecording final : public Recording {
 public:
  VulkanRecording(VulkanBackend& backend, std::shared_ptr<ImageSet> images, std::unique_ptr<CommandRecording> commands)
      : backend_(backend), images_(std::move(images)), commands_(std::move(commands)) {}

  Status run() override;
  Status appendTimesNs(std::vector<double>& times) const override;
  Status checkGuards() override;

 private:
  friend class VulkanRecorder;
  VulkanBackend& backend_;
  std::shared_ptr<ImageSet> images_;  // shared with the plan's other recordings
  std::unique_ptr<CommandRecording> commands_;
  DataReports reports_;
  std::vector<Tensor> gaps_;  // between parts of scratch memory, if guarded
};

class VulkanRecorder final : public Recorder {
 public:
  explicit VulkanRecorder(VulkanBackend& backend);
  Status add(Execution& execution, TensorList inputs, TensorList outputs) override;
  Result<std::unique_ptr<Recording>> finish() override;

  /// Records what an Execution dispatches; called from its onResize.
  Status encode(VulkanExecution& execution, TensorList inputs, TensorList outputs, ScratchMemory& scratch,
                ShaderTables& tables);

 private:
  Status open();

  VulkanBackend& backend_;
  std::shared_ptr<ImageSet> images_;  // shared with the recordings
  std::unique_ptr<VulkanRecording> open_;
};

}  // namespace opkit::vulkan
