#include "engine/backend/vulkan/pipeline_statistics.h"

#include "engine/backend/vulkan/vulkan_status.h"

namespace opkit::vulkan {

std::string valueText(const VkPipelineExecutableStatisticKHR& statistic) {
  switch (statistic.format) {
    case VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_BOOL32_KHR: return statistic.value.b32 ? "yes" : "no";
    case VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_INT64_KHR: return std::to_string(statistic.value.i64);
    case VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_UINT64_KHR: return std::to_string(statistic.value.u64);
    case VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_FLOAT64_KHR: return fmt::format("{:.3g}", statistic.value.f64);
    default: return "?";
  }
}

Result<std::vector<PipelineStatistic>> statisticsOf(const Device& device, VkPipeline pipeline) {
  const VolkDeviceTable& vk = device.vk();
  const VkPipelineInfoKHR info{VK_STRUCTURE_TYPE_PIPELINE_INFO_KHR, nullptr, pipeline};
  uint32_t executables = 0;
  OPKIT_VK(vk.vkGetPipelineExecutablePropertiesKHR(device.handle(), &info, &executables, nullptr),
           "asking for a pipeline's executables");
  std::vector<PipelineStatistic> list;
  for (uint32_t i = 0; i < executables; ++i) {
    const VkPipelineExecutableInfoKHR executable{VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_INFO_KHR, nullptr, pipeline, i};
    uint32_t count = 0;
    OPKIT_VK(vk.vkGetPipelineExecutableStatisticsKHR(device.handle(), &executable, &count, nullptr),
             "asking for a pipeline's statistics");
    std::vector<VkPipelineExecutableStatisticKHR> statistics(
        count, {VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_STATISTIC_KHR, nullptr, {}, {}, {}, {}});
    OPKIT_VK(vk.vkGetPipelineExecutableStatisticsKHR(device.handle(), &executable, &count, statistics.data()),
             "asking for a pipeline's statistics");
    for (const VkPipelineExecutableStatisticKHR& statistic : statistics)
      list.push_back({statistic.name, valueText(statistic)});
  }
  return list;
}

}  // namespace opkit::vulkan
