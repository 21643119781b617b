#include "engine/backend/vulkan/vulkan_recorder.h"

#include "engine/backend/guarded_tensor.h"
#include "engine/backend/vulkan/image_guard.h"

namespace opkit::vulkan {

Status VulkanRecording::run() {
  backend_.ranImages_ = images_;
  OPKIT_TRY(commands_->run(backend_.fence_.get()));
  return reports_.take();
}

Status VulkanRecording::appendTimesNs(std::vector<double>& times) const {
  return backend_.context_.timestamps ? commands_->readNs(times) : Status::ok();
}

Status VulkanRecording::checkGuards() {
  for (const Tensor& gap : gaps_) OPKIT_TRY(checkGap(backend_, gap, "a part of its scratch memory"));
  for (const VulkanImage* image : images_->filled())
    OPKIT_TRY(checkImageGuard(backend_, backend_.context_.device, backend_.context_.pool, *image));
  std::erase_if(backend_.guarded_, [](const auto& constant) { return constant.expired(); });
  for (const auto& watched : backend_.guarded_)
    if (const auto constant = watched.lock())
      OPKIT_TRY(checkGuard(backend_, *constant, "the packed constant " + constant->desc.toString()));
  return Status::ok();
}

VulkanRecorder::VulkanRecorder(VulkanBackend& backend)
    : backend_(backend), images_(std::make_shared<ImageSet>(backend.context_.device, backend.config_.guardBytes > 0)) {}

Status VulkanRecorder::add(Execution& execution, TensorList inputs, TensorList outputs) {
  OPKIT_TRY(open());
  backend_.recorder_ = this;
  const Status status = execution.onResize(inputs, outputs);
  backend_.recorder_ = nullptr;
  return status;
}

Status VulkanRecorder::encode(VulkanExecution& execution, TensorList inputs, TensorList outputs, ScratchMemory& scratch,
                              ShaderTables& tables) {
  CommandRecording& commands = *open_->commands_;
  OPKIT_TRY(commands.beginExecution());
  CommandEncoder encoder(backend_, commands, scratch, tables, open_->reports_);
  OPKIT_TRY(execution.onEncode(inputs, outputs, encoder));
  commands.endExecution();
  open_->gaps_.insert(open_->gaps_.end(), scratch.gaps().begin(), scratch.gaps().end());
  return Status::ok();
}

Result<std::unique_ptr<Recording>> VulkanRecorder::finish() {
  OPKIT_TRY(open());
  OPKIT_TRY(open_->commands_->finish(backend_.fence_.get()));
  return std::unique_ptr<Recording>(std::move(open_));
}

Status VulkanRecorder::open() {
  if (open_) return Status::ok();
  RecordingContext context = backend_.context_;
  context.images = images_.get();
  OPKIT_ASSIGN(auto commands, CommandRecording::create(context));
  open_ = std::make_unique<VulkanRecording>(backend_, images_, std::move(commands));
  return Status::ok();
}

}  // namespace opkit::vulkan
