// Device limits: checks the features that a shader needs, the size of its work groups and the ranges that it binds.
//
// Every dispatch is checked twice: when a kernel is chosen, so that another one or the CPU can take its place, and when
// it is recorded. Operators do not check. Refusals are Status::unsupportedByDevice, except those that hold on every
// device. Plain functions, thread-safe.
#pragma once

#include "engine/backend/vulkan/physical_device.h"
#include "engine/backend/vulkan/vulkan_execution.h"

namespace opkit::vulkan {

/// The capabilities that the SPIR-V declares, its work group and its shared memory at the given specialisation.
Status requireShader(const PhysicalDevice& physical, const ShaderCode& code, std::span<const uint32_t> constants);

Status requireGroups(const PhysicalDevice& physical, const ShaderCode& code, Groups groups);

/// The tensor as one of the shader's bindings, with or without memory. Unsupported on any device if a shader would
/// count elements beyond 2^31 - 1.
Status requireBinding(const PhysicalDevice& physical, const Tensor& tensor, Access access, const char* user);

/// The largest piece of a buffer that a shader can bind and whose bytes it can count.
uint64_t maxBindingBytes(const PhysicalDevice& physical);

/// Every binding may begin at a multiple of this.
inline constexpr size_t kBindingAlignment =
    256;  // the largest that the Vulkan specification allows a device to ask for

}  // namespace opkit::vulkan
