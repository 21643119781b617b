// GlslTracer: the trace of one dispatch of a compute shader given as GLSL text, for shaders that belong to no operator.
#pragma once

#include <deque>

#include "engine/backend/vulkan/vulkan_runtime.h"
#include "engine/op/op_registry.h"
#include "harness/trace/shader_tracer.h"

namespace opkit::harness {

struct GlslDispatch {
  std::string path;           // for messages and source lines; includes are searched beside it
  std::string source;         // with its `#version`
  std::vector<size_t> bytes;  // of the storage buffer at each binding; they begin as zeros
  vulkan::Groups groups;
};

class GlslTracer {
 public:
  static Result<std::unique_ptr<GlslTracer>> create(std::shared_ptr<vulkan::VulkanRuntime> runtime);

  /// The trace is valid until the next call; specialisation constants keep their defaults. InvalidArgument holds the
  /// compiler's lines, or says that the number of buffers is wrong or that the shader takes push constants or images.
  Result<DispatchTrace> run(const GlslDispatch& dispatch, size_t records = size_t{1} << 20);
  /// The buffers of the last dispatch that hold values before it: those that the shader reads.
  const std::vector<TracedWrite>& inputs() const { return inputs_; }

 private:
  explicit GlslTracer(std::shared_ptr<vulkan::VulkanRuntime> runtime) : runtime_(std::move(runtime)) {}

  std::shared_ptr<vulkan::VulkanRuntime> runtime_;
  OpRegistry registry_;
  std::unique_ptr<Backend> backend_;
  std::unique_ptr<ShaderTracer> tracer_;
  std::deque<std::vector<uint32_t>> words_;  // a deque: pipelines are found by address
  std::vector<TracedWrite> inputs_;
};

}  // namespace opkit::harness
