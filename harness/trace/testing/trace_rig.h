// TraceRig: one dispatch of a compute shader given as GLSL, traced on the Vulkan device.
#pragma once

#include "engine/backend/vulkan/vulkan_backend.h"
#include "harness/trace/shader_tracer.h"

namespace opkit::harness {

struct TestKernel {
  std::string source;         // after `#version 450`
  std::vector<size_t> bytes;  // of the storage buffer at each binding
  vulkan::Groups groups;
  uint32_t invocations = 1;  // of a group
};

class TraceRig {
 public:
  /// Unsupported without a device.
  static Result<std::unique_ptr<TraceRig>> create();
  /// The trace is valid until the next call. InvalidArgument if the shader does not compile.
  Result<DispatchTrace> run(const TestKernel& kernel, size_t records = size_t{1} << 20);
  ShaderTracer& tracer() { return *tracer_; }

 private:
  std::shared_ptr<vulkan::VulkanRuntime> runtime_;
  OpRegistry registry_;
  std::unique_ptr<Backend> backend_;
  std::unique_ptr<ShaderTracer> tracer_;
  std::vector<uint32_t> words_;
  std::vector<std::vector<uint32_t>> kept_;  // pipelines name them
};

}  // namespace opkit::harness
