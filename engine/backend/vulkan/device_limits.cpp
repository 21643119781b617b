#include "engine/backend/vulkan/device_limits.h"

#include <algorithm>

#include "engine/backend/vulkan/spirv_facts.h"
#include "engine/backend/vulkan/vulkan_image.h"

namespace opkit::vulkan {
namespace {

constexpr uint32_t kOpCapability = 17;
constexpr size_t kSpirvHeaderWords = 5;

/// SPIR-V capability numbers (SPIR-V specification, 3.31) that need a device feature.
Status requireCapability(const PhysicalDevice& physical, uint32_t capability, const char* shader) {
  struct Need {
    uint32_t capability;
    bool present;
    const char* feature;
  };
  const Need needs[] = {{9, physical.float16, "shaderFloat16"},
                        {10, physical.float64, "shaderFloat64"},
                        {11, physical.int64, "shaderInt64"},
                        {22, physical.int16, "shaderInt16"},
                        {39, physical.int8, "shaderInt8"},
                        {4433, physical.storage16, "storageBuffer16BitAccess"},
                        {4448, physical.storage8, "storageBuffer8BitAccess"},
                        {6019, physical.byteDots, "shaderIntegerDotProduct"}};
  for (const Need& need : needs)
    if (need.capability == capability && !need.present)
      return Status::unsupportedByDevice("vulkan: shader {} needs {}, which {} lacks", shader, need.feature,
                                         physical.info.name);
  return Status::ok();
}

/// Capabilities are the first instructions of a module; an instruction's first word is (length << 16 | opcode).
Status requireCapabilities(const PhysicalDevice& physical, const ShaderCode& code) {
  size_t at = kSpirvHeaderWords;
  while (at + 1 < code.spirv.size() && (code.spirv[at] & 0xFFFFu) == kOpCapability) {
    OPKIT_TRY(requireCapability(physical, code.spirv[at + 1], code.name));
    at += code.spirv[at] >> 16;
  }
  return Status::ok();
}

/// The behaviour of a driver is undefined for a work group beyond the device's limits, so it is refused here.
Status requireWorkGroup(const PhysicalDevice& physical, const ShaderCode& code, std::span<const uint32_t> constants) {
  const VkPhysicalDeviceLimits& limits = physical.properties.limits;
  const SpirvFacts facts = factsOf(code.spirv, constants);
  if (facts.invocations() > limits.maxComputeWorkGroupInvocations)
    return Status::unsupportedByDevice("vulkan: shader {} runs {} invocations per work group, {} allows {}", code.name,
                                       facts.invocations(), physical.info.name, limits.maxComputeWorkGroupInvocations);
  for (size_t axis = 0; axis < 3; ++axis)
    if (facts.localSize[axis] > limits.maxComputeWorkGroupSize[axis])
      return Status::unsupportedByDevice("vulkan: shader {} has work groups of {} along {}, {} allows {}", code.name,
                                         facts.localSize[axis], "xyz"[axis], physical.info.name,
                                         limits.maxComputeWorkGroupSize[axis]);
  if (facts.sharedBytes > limits.maxComputeSharedMemorySize)
    return Status::unsupportedByDevice("vulkan: shader {} shares {} bytes per work group, {} allows {}", code.name,
                                       facts.sharedBytes, physical.info.name, limits.maxComputeSharedMemorySize);
  return Status::ok();
}

Status requireImage(const VkPhysicalDeviceLimits& limits, const TensorDesc& desc, const char* user) {
  const ImageShape image(desc.shape);
  const auto most = static_cast<int64_t>(limits.maxImageDimension2D);
  if (image.columns() > most || image.rows() > most)
    return Status::unsupportedByDevice("vulkan: {}: {} as an image has {} x {} texels, the device allows {} each way",
                                       user, desc.toString(), image.columns(), image.rows(), most);
  return Status::ok();
}

}  // namespace

Status requireShader(const PhysicalDevice& physical, const ShaderCode& code, std::span<const uint32_t> constants) {
  OPKIT_TRY(requireCapabilities(physical, code));
  return requireWorkGroup(physical, code, constants);
}

Status requireGroups(const PhysicalDevice& physical, const ShaderCode& code, Groups groups) {
  const uint32_t wanted[3] = {groups.x, groups.y, groups.z};
  const auto& most = physical.properties.limits.maxComputeWorkGroupCount;
  for (int axis = 0; axis < 3; ++axis)
    if (wanted[axis] > most[axis])
      return Status::unsupportedByDevice("vulkan: {}: {} work groups along {}, the device allows {}", code.name,
                                         wanted[axis], "xyz"[axis], most[axis]);
  return Status::ok();
}

Status requireBinding(const PhysicalDevice& physical, const Tensor& tensor, Access access, const char* user) {
  const VkPhysicalDeviceLimits& limits = physical.properties.limits;
  const TensorDesc& desc = tensor.desc;
  if (desc.elements() > INT32_MAX)
    return Status::unsupported("vulkan: {}: shaders count to {} elements, got {}", user, INT32_MAX, desc.toString());
  if (access == Access::Texel) {
    if (desc.elements() / 4 <= limits.maxTexelBufferElements) return Status::ok();
    return Status::unsupportedByDevice("vulkan: {}: {} exceeds the device limit of {} texels per buffer", user,
                                       desc.toString(), limits.maxTexelBufferElements);
  }
  if (isImage(access)) OPKIT_TRY(requireImage(limits, desc, user));
  // Images too: the conversions from and to a buffer bind the buffer.
  if (tensor.sizeBytes() <= limits.maxStorageBufferRange) return Status::ok();
  return Status::unsupportedByDevice("vulkan: {}: {} exceeds the device limit of {} bytes per buffer", user,
                                     desc.toString(), limits.maxStorageBufferRange);
}

uint64_t maxBindingBytes(const PhysicalDevice& physical) {
  return std::min<uint64_t>(physical.properties.limits.maxStorageBufferRange, INT32_MAX);
}

}  // namespace opkit::vulkan
