// The program that export_cpp writes: fmt fills in the named fields. Braces are doubled.
#pragma once

namespace opkit::harness {

inline constexpr const char* kExportTemplate =
    R"program(// {id}
// Dispatches one operator's shaders on fixed data and compares the result. Nothing but Vulkan is needed:
//   c++ -std=c++17 this.cpp -lvulkan && ./a.out [device index]
// Exit code 0: right; 1: wrong; 2: no device.
#include <vulkan/vulkan.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

{data}
struct Buffer {{
  const uint32_t* data;
  size_t bytes;
  VkFormat texels;
}};
const Buffer kBuffers[] = {{
{buffers}}};
struct Dispatch {{
  const uint32_t* spirv;
  size_t bytes;
  std::vector<uint32_t> buffers, texel, push, constants;
  uint32_t x, y, z;
}};
const std::vector<Dispatch> kDispatches = {{
{dispatches}}};
const char kType[] = "{dtype}";
const double kExpected[] = {{{expected}}};
const double kBounds[] = {{{bounds}}};
const size_t kCount = {count};

#define CHECK(call)                                                      \
  do {{                                                                   \
    if (VkResult r = (call); r != VK_SUCCESS) {{                          \
      std::fprintf(stderr, "%s failed: %d\n", #call, static_cast<int>(r)); \
      std::exit(2);                                                      \
    }}                                                                    \
  }} while (0)

double half(uint16_t h) {{
  const double sign = h & 0x8000 ? -1 : 1;
  const int exponent = h >> 10 & 31, fraction = h & 1023;
  if (exponent == 31) return fraction ? NAN : sign * INFINITY;
  return exponent ? sign * std::ldexp(1024 + fraction, exponent - 25) : sign * std::ldexp(fraction, -24);
}}

template <class T>
double at(const void* data, size_t i) {{
  T value;
  std::memcpy(&value, static_cast<const char*>(data) + i * sizeof(T), sizeof(T));
  return static_cast<double>(value);
}}

double element(const void* data, size_t i) {{
  const char* t = kType;
  if (!std::strcmp(t, "f32")) return at<float>(data, i);
  if (!std::strcmp(t, "f64")) return at<double>(data, i);
  if (!std::strcmp(t, "i8")) return at<int8_t>(data, i);
  if (!std::strcmp(t, "i16")) return at<int16_t>(data, i);
  if (!std::strcmp(t, "u16")) return at<uint16_t>(data, i);
  if (!std::strcmp(t, "i32")) return at<int32_t>(data, i);
  if (!std::strcmp(t, "u32")) return at<uint32_t>(data, i);
  if (!std::strcmp(t, "i64")) return static_cast<double>(at<int64_t>(data, i));
  if (!std::strcmp(t, "u64")) return static_cast<double>(at<uint64_t>(data, i));
  if (!std::strcmp(t, "f16")) {{
    uint16_t h;
    std::memcpy(&h, static_cast<const char*>(data) + 2 * i, 2);
    return half(h);
  }}
  return at<uint8_t>(data, i);
}}

int main(int argc, char** argv) {{
  VkApplicationInfo application{{VK_STRUCTURE_TYPE_APPLICATION_INFO}};
  application.apiVersion = VK_API_VERSION_1_2;
  VkInstanceCreateInfo instanceInfo{{VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO}};
  instanceInfo.pApplicationInfo = &application;
  VkInstance instance;
  CHECK(vkCreateInstance(&instanceInfo, nullptr, &instance));
  uint32_t count = 0;
  CHECK(vkEnumeratePhysicalDevices(instance, &count, nullptr));
  std::vector<VkPhysicalDevice> devices(count);
  CHECK(vkEnumeratePhysicalDevices(instance, &count, devices.data()));
  const uint32_t index = argc > 1 ? static_cast<uint32_t>(std::atoi(argv[1])) : 0;
  if (index >= count) return std::fprintf(stderr, "no device %u\n", index), 2;
  const VkPhysicalDevice physical = devices[index];
  VkPhysicalDeviceProperties properties;
  vkGetPhysicalDeviceProperties(physical, &properties);
  std::printf("device: %s\n", properties.deviceName);

  uint32_t families = 0, family = 0;
  vkGetPhysicalDeviceQueueFamilyProperties(physical, &families, nullptr);
  std::vector<VkQueueFamilyProperties> queues(families);
  vkGetPhysicalDeviceQueueFamilyProperties(physical, &families, queues.data());
  while (family < families && !(queues[family].queueFlags & VK_QUEUE_COMPUTE_BIT)) ++family;
  VkPhysicalDeviceVulkan12Features features12{{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES}};
  VkPhysicalDeviceVulkan11Features features11{{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES, &features12}};
  VkPhysicalDeviceFeatures2 features{{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, &features11}};
  vkGetPhysicalDeviceFeatures2(physical, &features);
  const float priority = 1;
  VkDeviceQueueCreateInfo queueInfo{{VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO}};
  queueInfo.queueFamilyIndex = family;
  queueInfo.queueCount = 1;
  queueInfo.pQueuePriorities = &priority;
  VkDeviceCreateInfo deviceInfo{{VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO, &features}};
  deviceInfo.queueCreateInfoCount = 1;
  deviceInfo.pQueueCreateInfos = &queueInfo;
  VkDevice device;
  CHECK(vkCreateDevice(physical, &deviceInfo, nullptr, &device));
  VkQueue queue;
  vkGetDeviceQueue(device, family, 0, &queue);

  VkPhysicalDeviceMemoryProperties memory;
  vkGetPhysicalDeviceMemoryProperties(physical, &memory);
  std::vector<VkBuffer> buffers;
  std::vector<void*> mapped;
  for (const Buffer& b : kBuffers) {{
    VkBufferCreateInfo info{{VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO}};
    info.size = (b.bytes + 3) / 4 * 4 + 64;
    info.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_UNIFORM_TEXEL_BUFFER_BIT;
    VkBuffer buffer;
    CHECK(vkCreateBuffer(device, &info, nullptr, &buffer));
    VkMemoryRequirements needs;
    vkGetBufferMemoryRequirements(device, buffer, &needs);
    const VkMemoryPropertyFlags wanted = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    uint32_t type = 0;
    while (type < memory.memoryTypeCount &&
           (!(needs.memoryTypeBits >> type & 1) || (memory.memoryTypes[type].propertyFlags & wanted) != wanted))
      ++type;
    VkMemoryAllocateInfo allocation{{VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO}};
    allocation.allocationSize = needs.size;
    allocation.memoryTypeIndex = type;
    VkDeviceMemory deviceMemory;
    CHECK(vkAllocateMemory(device, &allocation, nullptr, &deviceMemory));
    CHECK(vkBindBufferMemory(device, buffer, deviceMemory, 0));
    void* data;
    CHECK(vkMapMemory(device, deviceMemory, 0, VK_WHOLE_SIZE, 0, &data));
    std::memcpy(data, b.data, b.bytes);
    buffers.push_back(buffer);
    mapped.push_back(data);
  }}

  VkCommandPoolCreateInfo poolInfo{{VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO}};
  poolInfo.queueFamilyIndex = family;
  VkCommandPool pool;
  CHECK(vkCreateCommandPool(device, &poolInfo, nullptr, &pool));
  VkCommandBufferAllocateInfo commandInfo{{VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO}};
  commandInfo.commandPool = pool;
  commandInfo.commandBufferCount = 1;
  VkCommandBuffer commands;
  CHECK(vkAllocateCommandBuffers(device, &commandInfo, &commands));
  VkCommandBufferBeginInfo begin{{VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO}};
  CHECK(vkBeginCommandBuffer(commands, &begin));
  for (const Dispatch& d : kDispatches) {{
    const auto bindings = static_cast<uint32_t>(d.buffers.size());
    std::vector<VkDescriptorSetLayoutBinding> layoutBindings;
    for (uint32_t i = 0; i < bindings; ++i)
      layoutBindings.push_back({{i, d.texel[i] ? VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER : VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1,
                                VK_SHADER_STAGE_COMPUTE_BIT, nullptr}});
    VkDescriptorSetLayoutCreateInfo setInfo{{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO}};
    setInfo.bindingCount = bindings;
    setInfo.pBindings = layoutBindings.data();
    VkDescriptorSetLayout setLayout;
    CHECK(vkCreateDescriptorSetLayout(device, &setInfo, nullptr, &setLayout));
    const auto pushBytes = static_cast<uint32_t>(4 * d.push.size());
    const VkPushConstantRange range{{VK_SHADER_STAGE_COMPUTE_BIT, 0, pushBytes}};
    VkPipelineLayoutCreateInfo layoutInfo{{VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO}};
    layoutInfo.setLayoutCount = 1;
    layoutInfo.pSetLayouts = &setLayout;
    layoutInfo.pushConstantRangeCount = pushBytes ? 1 : 0;
    layoutInfo.pPushConstantRanges = &range;
    VkPipelineLayout layout;
    CHECK(vkCreatePipelineLayout(device, &layoutInfo, nullptr, &layout));
    VkShaderModuleCreateInfo moduleInfo{{VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO}};
    moduleInfo.codeSize = d.bytes;
    moduleInfo.pCode = d.spirv;
    VkShaderModule module;
    CHECK(vkCreateShaderModule(device, &moduleInfo, nullptr, &module));
    std::vector<VkSpecializationMapEntry> entries;
    for (uint32_t i = 0; i < d.constants.size(); ++i) entries.push_back({{i, 4 * i, 4}});
    const VkSpecializationInfo specialization{{static_cast<uint32_t>(entries.size()), entries.data(), 4 * d.constants.size(),
                                              d.constants.data()}};
    VkComputePipelineCreateInfo pipelineInfo{{VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO}};
    pipelineInfo.stage = {{VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO, nullptr, 0, VK_SHADER_STAGE_COMPUTE_BIT, module,
                          "main", &specialization}};
    pipelineInfo.layout = layout;
    VkPipeline pipeline;
    CHECK(vkCreateComputePipelines(device, VK_NULL_HANDLE, 1, &pipelineInfo, nullptr, &pipeline));
    const VkDescriptorPoolSize sizes[] = {{{{VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, bindings}},
                                          {{VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER, bindings}}}};
    VkDescriptorPoolCreateInfo descriptorInfo{{VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO}};
    descriptorInfo.maxSets = 1;
    descriptorInfo.poolSizeCount = 2;
    descriptorInfo.pPoolSizes = sizes;
    VkDescriptorPool descriptors;
    CHECK(vkCreateDescriptorPool(device, &descriptorInfo, nullptr, &descriptors));
    VkDescriptorSetAllocateInfo allocateInfo{{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO}};
    allocateInfo.descriptorPool = descriptors;
    allocateInfo.descriptorSetCount = 1;
    allocateInfo.pSetLayouts = &setLayout;
    VkDescriptorSet set;
    CHECK(vkAllocateDescriptorSets(device, &allocateInfo, &set));
    for (uint32_t i = 0; i < bindings; ++i) {{
      const Buffer& b = kBuffers[d.buffers[i]];
      const VkDescriptorBufferInfo bufferInfo{{buffers[d.buffers[i]], 0, (b.bytes + 3) / 4 * 4 + (b.bytes ? 0 : 4)}};
      VkBufferView view = VK_NULL_HANDLE;
      if (d.texel[i]) {{
        VkBufferViewCreateInfo viewInfo{{VK_STRUCTURE_TYPE_BUFFER_VIEW_CREATE_INFO}};
        viewInfo.buffer = buffers[d.buffers[i]];
        viewInfo.format = b.texels;
        viewInfo.range = b.bytes;
        CHECK(vkCreateBufferView(device, &viewInfo, nullptr, &view));
      }}
      VkWriteDescriptorSet write{{VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET}};
      write.dstSet = set;
      write.dstBinding = i;
      write.descriptorCount = 1;
      write.descriptorType = layoutBindings[i].descriptorType;
      write.pBufferInfo = &bufferInfo;
      write.pTexelBufferView = &view;
      vkUpdateDescriptorSets(device, 1, &write, 0, nullptr);
    }}
    vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
    vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, layout, 0, 1, &set, 0, nullptr);
    if (pushBytes) vkCmdPushConstants(commands, layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, pushBytes, d.push.data());
    vkCmdDispatch(commands, d.x, d.y, d.z);
    const VkMemoryBarrier barrier{{VK_STRUCTURE_TYPE_MEMORY_BARRIER, nullptr, VK_ACCESS_SHADER_WRITE_BIT,
                                  VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_HOST_READ_BIT}};
    vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
                         VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &barrier, 0, nullptr, 0, nullptr);
  }}
  CHECK(vkEndCommandBuffer(commands));
  VkSubmitInfo submit{{VK_STRUCTURE_TYPE_SUBMIT_INFO}};
  submit.commandBufferCount = 1;
  submit.pCommandBuffers = &commands;
  CHECK(vkQueueSubmit(queue, 1, &submit, VK_NULL_HANDLE));
  CHECK(vkQueueWaitIdle(queue));

  size_t wrong = 0;
  for (size_t i = 0; i < kCount; ++i) {{
    const double got = element(mapped[0], i))program"
    R"program(, want = kExpected[i];
    const double target = kBounds[i] == 0 && !std::strcmp(kType, "f32") ? static_cast<float>(want) : want;
    const bool same = std::isnan(want) ? std::isnan(got) : std::isinf(target) ? got == target : std::fabs(got - target) <= kBounds[i];
    if (same) continue;
    if (wrong++ < 10) std::printf("element %zu: expected %.9g, got %.9g, bound %.3g\n", i, want, got, kBounds[i]);
  }}
  std::printf("%zu of %zu elements are wrong\n", wrong, kCount);
  return wrong ? 1 : 0;
}}
)program";

}  // namespace opkit::harness
