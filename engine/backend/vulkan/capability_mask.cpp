#include "engine/backend/vulkan/capability_mask.h"

#include <algorithm>
#include <charconv>
#include <sstream>

namespace opkit::vulkan {
namespace {

constexpr std::pair<const char*, bool PhysicalDevice::*> kMaskFeatures[] = {
    {"no-fp16", &PhysicalDevice::float16},
    {"no-fp64", &PhysicalDevice::float64},
    {"no-int8", &PhysicalDevice::int8},
    {"no-int16", &PhysicalDevice::int16},
    {"no-int64", &PhysicalDevice::int64},
    {"no-storage8", &PhysicalDevice::storage8},
    {"no-storage16", &PhysicalDevice::storage16},
    {"no-byte-dots", &PhysicalDevice::byteDots},
    {"no-image-robustness", &PhysicalDevice::imageRobustness}};

struct MaskLimit {
  const char* name;
  uint32_t low;  // affects some case of some operator
  void (*lower)(PhysicalDevice& device, uint32_t amount);
};

template <uint32_t VkPhysicalDeviceLimits::*limit>
void maskLimit(PhysicalDevice& device, uint32_t amount) {
  device.properties.limits.*limit = std::min(device.properties.limits.*limit, amount);
}

template <uint32_t (VkPhysicalDeviceLimits::*limits)[3]>
void maskAxes(PhysicalDevice& device, uint32_t amount) {
  for (uint32_t& limit : device.properties.limits.*limits) limit = std::min(limit, amount);
}

using L = VkPhysicalDeviceLimits;
constexpr MaskLimit kMaskLimits[] = {
    {"subgroup", 1, [](PhysicalDevice& device, uint32_t n) { device.subgroupSize = std::min(device.subgroupSize, n); }},
    {"shared", 64, maskLimit<&L::maxComputeSharedMemorySize>},
    {"workgroup", 32,
     [](PhysicalDevice& device, uint32_t n) {
       maskLimit<&L::maxComputeWorkGroupInvocations>(device, n);
       maskAxes<&L::maxComputeWorkGroupSize>(device, n);
     }},
    {"groups", 2, maskAxes<&L::maxComputeWorkGroupCount>},
    {"buffer", 1024, maskLimit<&L::maxStorageBufferRange>},
    {"texels", 16, maskLimit<&L::maxTexelBufferElements>},
    {"image", 16, maskLimit<&L::maxImageDimension2D>},
    {"loops", 64,
     [](PhysicalDevice& device, uint32_t n) { device.loopIterations = std::min<uint64_t>(device.loopIterations, n); }}};

/// "16k" is 16384.
bool parseAmount(const std::string& text, uint32_t& amount) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), amount);
  if (error != std::errc() || end == text.data() || amount == 0) return false;
  const std::string unit(end, text.data() + text.size());
  const uint32_t shift = unit == "k" ? 10 : unit == "m" ? 20 : 0;
  if (!unit.empty() && shift == 0) return false;
  if (amount > (UINT32_MAX >> shift)) return false;
  amount <<= shift;
  return true;
}

Status applyItem(const std::string& item, PhysicalDevice& device) {
  for (const auto& [name, present] : kMaskFeatures)
    if (item == name) return device.*present = false, Status::ok();
  const size_t equals = std::min(item.find('='), item.size());
  uint32_t amount = 0;
  for (const MaskLimit& limit : kMaskLimits)
    if (item.substr(0, equals) == limit.name && equals < item.size() && parseAmount(item.substr(equals + 1), amount))
      return limit.lower(device, amount), Status::ok();
  return Status::invalidArgument("mask: expected some of {}, got '{}'", fmt::join(singleMasks(), ", "), item);
}

}  // namespace

std::vector<std::string> singleMasks() {
  std::vector<std::string> masks;
  for (const auto& feature : kMaskFeatures) masks.push_back(feature.first);
  for (const MaskLimit& limit : kMaskLimits) masks.push_back(fmt::format("{}={}", limit.name, limit.low));
  return masks;
}

Status applyMask(const std::string& mask, PhysicalDevice& device) {
  std::istringstream items(mask);
  for (std::string item; std::getline(items, item, ',');) OPKIT_TRY(applyItem(item, device));
  if (!mask.empty()) device.info.name += fmt::format(" masked {}", mask);
  return Status::ok();
}

}  // namespace opkit::vulkan
