#include "harness/trace/testing/trace_rig.h"

#include "engine/backend/vulkan/shader_build/compiler.h"
#include "engine/backend/vulkan/vulkan_image.h"

namespace opkit::harness {

Result<std::unique_ptr<TraceRig>> TraceRig::create() {
  OPKIT_ASSIGN(auto runtime, createRuntime("vulkan", {.cacheDir = "off"}));
  auto rig = std::make_unique<TraceRig>();
  rig->runtime_ = std::dynamic_pointer_cast<vulkan::VulkanRuntime>(std::move(runtime));
  OPKIT_ASSIGN(rig->backend_, rig->runtime_->createBackend(rig->registry_, {}));
  return rig;
}

Result<DispatchTrace> TraceRig::run(const TestKernel& kernel, size_t records) {
  std::set<std::string> dependencies;
  OPKIT_ASSIGN(auto compiled, shader_build::compile("kernel.comp", "#version 450\n" + kernel.source, {}, {},
                                                    dependencies, {}, shader_build::DebugInfo::Keep));
  kept_.push_back(std::move(compiled.optimized));
  auto& backend = static_cast<vulkan::VulkanBackend&>(*backend_);
  tracer_ = std::make_unique<ShaderTracer>(records);
  runtime_->setTracer(tracer_.get());
  std::vector<Tensor> tensors;
  for (const size_t bytes : kernel.bytes) {
    tensors.push_back({{DType::UInt8, {static_cast<int64_t>(bytes)}}, nullptr, 0, 0});
    OPKIT_ASSIGN(tensors.back().buffer, backend.allocate(bytes));
  }
  std::vector<const Tensor*> pointers;
  for (const Tensor& tensor : tensors) pointers.push_back(&tensor);
  const std::vector<vulkan::Access> accesses(tensors.size(), vulkan::Access::ReadWrite);
  const vulkan::ShaderCode code{"kernel", kept_.back(), accesses, 0, 0, {kernel.invocations, 1, 1}};
  vulkan::ImageSet images(backend.sharedDevice());
  OPKIT_ASSIGN(const auto recording, backend.trialRecording(images));
  const Status recorded = recording->dispatch(code, pointers, {}, {}, kernel.groups);
  runtime_->setTracer(nullptr);
  OPKIT_TRY(recorded);
  OPKIT_TRY(backend.finishTrial(*recording));
  OPKIT_TRY(backend.runTrial(*recording));
  return tracer_->dispatches().at(0);
}

}  // namespace opkit::harness
