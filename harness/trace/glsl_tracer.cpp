#include "harness/trace/glsl_tracer.h"

#include <cstdlib>
#include <cstring>

#include "engine/backend/vulkan/shader_build/compiler.h"
#include "engine/backend/vulkan/shader_build/reflection.h"
#include "engine/backend/vulkan/vulkan_backend.h"
#include "engine/backend/vulkan/vulkan_image.h"
#include "harness/run/build_facts.h"

namespace opkit::harness {
namespace {

using vulkan::Access;

/// The compiler prints all of its built-ins if a file has no version for compute shaders.
Status requireVersion(const GlslDispatch& dispatch) {
  const size_t at = dispatch.source.find("#version");
  if (at != std::string::npos && std::atoi(dispatch.source.c_str() + at + std::strlen("#version")) >= 430)
    return Status::ok();
  return Status::invalidArgument("{}: expected a compute shader with #version 450", dispatch.path);
}

Status requireSupported(const shader_build::Reflection& shader, const GlslDispatch& dispatch) {
  if (shader.pushBytes > 0)
    return Status::invalidArgument("{}: has push constants; give constants instead", dispatch.path);
  if (shader.bindings.size() != dispatch.bytes.size())
    return Status::invalidArgument("{}: expected the bytes of {} buffers, got {}", dispatch.path,
                                   shader.bindings.size(), dispatch.bytes.size());
  for (const auto& [number, binding] : shader.bindings)
    if (number >= dispatch.bytes.size() || binding.access == Access::Texel || vulkan::isImage(binding.access))
      return Status::invalidArgument("{}: binding {}: expected storage buffers at bindings 0 to {}", dispatch.path,
                                     number, dispatch.bytes.size() - 1);
  return Status::ok();
}

/// Buffers of zeros.
Result<std::vector<Tensor>> buffersOf(Backend& backend, const GlslDispatch& dispatch) {
  std::vector<Tensor> tensors;
  for (const size_t bytes : dispatch.bytes) {
    Tensor tensor{{DType::UInt8, {static_cast<int64_t>(bytes)}}, nullptr, 0, 0};
    OPKIT_ASSIGN(tensor.buffer, backend.allocate(bytes));
    OPKIT_ASSIGN(const Tensor zeros, Tensor::onHost(tensor.desc));
    std::ranges::fill(zeros.bytes(), std::byte{0});
    OPKIT_TRY(backend.upload(zeros, tensor));
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

}  // namespace

Result<std::unique_ptr<GlslTracer>> GlslTracer::create(std::shared_ptr<vulkan::VulkanRuntime> runtime) {
  std::unique_ptr<GlslTracer> tracer(new GlslTracer(std::move(runtime)));
  OPKIT_ASSIGN(tracer->backend_, tracer->runtime_->createBackend(tracer->registry_, {}));
  return tracer;
}

Result<DispatchTrace> GlslTracer::run(const GlslDispatch& dispatch, size_t records) {
  OPKIT_TRY(requireVersion(dispatch));
  std::set<std::string> dependencies;
  const std::string root = sourceFolder();
  OPKIT_ASSIGN(auto compiled,
               shader_build::compile(dispatch.path, dispatch.source, {}, {root + "/shaders/include", root},
                                     dependencies, {}, shader_build::DebugInfo::Keep));
  OPKIT_ASSIGN(const shader_build::Reflection shader, shader_build::reflect(compiled.plain));
  OPKIT_TRY(requireSupported(shader, dispatch));
  OPKIT_ASSIGN(const std::vector<Tensor> tensors, buffersOf(*backend_, dispatch));
  std::vector<Access> accesses;
  std::vector<const Tensor*> pointers;
  std::vector<uint32_t> constants;
  for (const auto& [number, binding] : shader.bindings) {
    accesses.push_back(binding.access);
    pointers.push_back(&tensors[number]);
  }
  for (const shader_build::SpecConstant& constant : shader.constants) constants.push_back(constant.defaultBits);
  words_.push_back(std::move(compiled.optimized));
  const vulkan::ShaderCode code{
      dispatch.path.c_str(),    words_.back(), accesses, 0, static_cast<uint32_t>(constants.size()), shader.localSize,
      shader.localSizeConstants};

  auto& backend = vulkan::VulkanBackend::of(*backend_);
  tracer_ = std::make_unique<ShaderTracer>(records);
  vulkan::ImageSet images(backend.sharedDevice());
  OPKIT_ASSIGN(const auto recording, backend.trialRecording(images));
  runtime_->setTracer(tracer_.get());
  const Status recorded = recording->dispatch(code, pointers, {}, constants, dispatch.groups);
  runtime_->setTracer(nullptr);
  OPKIT_TRY(recorded);
  OPKIT_TRY(backend.finishTrial(*recording));
  OPKIT_TRY(backend.runTrial(*recording));
  DispatchTrace trace = tracer_->dispatches().at(0);
  inputs_.clear();
  for (size_t i = 0; i < accesses.size(); ++i)
    if (accesses[i] != Access::Write)
      inputs_.push_back({trace.bindings[i].buffer, trace.bindings[i].offsetBytes, trace.bindings[i].sizeBytes});
  return trace;
}

}  // namespace opkit::harness
