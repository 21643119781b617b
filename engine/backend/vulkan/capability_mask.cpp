#include "engine/backend/vulkan/capability_mask.h"

#include <algorithm>
#include <charconv>
#include <sstream>

namespace opkit::vulkan {
namespace {

constexpr const char* kKnown =
    "no-fp16, no-fp64, no-int8, no-int16, no-int64, no-storage8, no-storage16, no-byte-dots, no-image-robustness, "
    "subgroup=N, "
    "shared=BYTES, workgroup=N, groups=N, buffer=BYTES, texels=N, image=N, loops=N";

bool* featureOf(const std::string& name, PhysicalDevice& device) {
  if (name == "no-fp16") return &device.float16;
  if (name == "no-fp64") return &device.float64;
  if (name == "no-int8") return &device.int8;
  if (name == "no-int16") return &device.int16;
  if (name == "no-int64") return &device.int64;
  if (name == "no-storage8") return &device.storage8;
  if (name == "no-storage16") return &device.storage16;
  if (name == "no-byte-dots") return &device.byteDots;
  if (name == "no-image-robustness") return &device.imageRobustness;
  return nullptr;
}

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

bool lowerLimit(const std::string& name, uint32_t amount, PhysicalDevice& device) {
  VkPhysicalDeviceLimits& limits = device.properties.limits;
  const auto lower = [amount](uint32_t& limit) { limit = std::min(limit, amount); };
  if (name == "subgroup") {
    lower(device.subgroupSize);
  } else if (name == "shared") {
    lower(limits.maxComputeSharedMemorySize);
  } else if (name == "workgroup") {
    lower(limits.maxComputeWorkGroupInvocations);
    for (uint32_t& size : limits.maxComputeWorkGroupSize) lower(size);
  } else if (name == "groups") {
    for (uint32_t& count : limits.maxComputeWorkGroupCount) lower(count);
  } else if (name == "buffer") {
    lower(limits.maxStorageBufferRange);
  } else if (name == "texels") {
    lower(limits.maxTexelBufferElements);
  } else if (name == "image") {
    lower(limits.maxImageDimension2D);
  } else if (name == "loops") {
    device.loopIterations = std::min<uint64_t>(device.loopIterations, amount);
  } else {
    return false;
  }
  return true;
}

Status applyItem(const std::string& item, PhysicalDevice& device) {
  if (bool* feature = featureOf(item, device)) {
    *feature = false;
    return Status::ok();
  }
  const size_t equals = item.find('=');
  uint32_t amount = 0;
  if (equals != std::string::npos && parseAmount(item.substr(equals + 1), amount) &&
      lowerLimit(item.substr(0, equals), amount, device))
    return Status::ok();
  return Status::invalidArgument("mask: expected some of {}, got '{}'", kKnown, item);
}

}  // namespace

std::vector<std::string> singleMasks() {
  return {"no-fp16",      "no-fp64",      "no-int8",
          "no-int16",     "no-int64",     "no-storage8",
          "no-storage16", "no-byte-dots", "no-image-robustness",
          "subgroup=1",   "shared=64",    "workgroup=32",
          "groups=2",     "buffer=1024",  "texels=16",
          "image=16",     "loops=64"};
}

Status applyMask(const std::string& mask, PhysicalDevice& device) {
  std::istringstream items(mask);
  for (std::string item; std::getline(items, item, ',');) OPKIT_TRY(applyItem(item, device));
  if (!mask.empty()) device.info.name += fmt::format(" masked {}", mask);
  return Status::ok();
}

}  // namespace opkit::vulkan
