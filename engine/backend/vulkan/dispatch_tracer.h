// DispatchTracer: what a harness needs to watch the memory accesses of shaders: other SPIR-V, and a buffer for it to
// write to.
//
// While a Runtime has one, its pipelines have a second descriptor set with one storage buffer, binding 0 of set 1.
#pragma once

#include <memory>

#include "engine/backend/vulkan/shader_code.h"
#include "engine/backend/vulkan/vulkan_buffer.h"
#include "engine/backend/vulkan/vulkan_execution.h"

namespace opkit::vulkan {

/// A dispatch as it is recorded. The references end with the call.
struct TracedDispatch {
  const ShaderCode& code;
  std::span<const uint32_t> constants;
  std::span<const Tensor* const> tensors;  // by binding
  Groups groups;
};

/// Called by the thread that records. REQUIRED to outlive every session that was resized under it.
class DispatchTracer {
 public:
  virtual ~DispatchTracer() = default;
  /// The SPIR-V to run instead of `code.spirv`; as ShaderSource.
  virtual std::span<const uint32_t> instrument(const ShaderCode& code) = 0;
  /// The storage buffer of one dispatch.
  virtual Result<std::shared_ptr<const VulkanBuffer>> bufferFor(const TracedDispatch& dispatch,
                                                                const std::shared_ptr<Device>& device) = 0;
  /// The host wrote, or a command that is no dispatch writes, all bytes of this tensor. In the order of recording.
  virtual void onWrite(const Tensor& tensor) = 0;
};

}  // namespace opkit::vulkan
