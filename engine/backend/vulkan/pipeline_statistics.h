// A driver's statistics of a compiled pipeline: registers, spills, instructions, by the driver's own names.
//
// Available with VK_KHR_pipeline_executable_properties, for pipelines made after PipelineCache::captureStatistics.
// Plain functions, thread-safe.
#pragma once

#include <string>
#include <vector>

#include "engine/backend/vulkan/device.h"

namespace opkit::vulkan {

struct PipelineStatistic {
  std::string name;   // "Register Count"
  std::string value;  // "24"
};

/// The value, printed according to its format.
std::string valueText(const VkPipelineExecutableStatisticKHR& statistic);

/// Statistics of all executables of the pipeline. REQUIRES a pipeline made with
/// VK_PIPELINE_CREATE_CAPTURE_STATISTICS_BIT_KHR on a device that has the extension.
Result<std::vector<PipelineStatistic>> statisticsOf(const Device& device, VkPipeline pipeline);

}  // namespace opkit::vulkan
