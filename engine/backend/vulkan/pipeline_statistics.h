// What a driver tells about a pipeline that it compiled: registers, spills, instructions, by the driver's own names.
//
// Drivers with VK_KHR_pipeline_executable_properties do, for pipelines that were made to be asked
// (PipelineCache::captureStatistics). Plain functions, thread-safe.
#pragma once

#include <string>
#include <vector>

#include "engine/backend/vulkan/device.h"

namespace opkit::vulkan {

struct PipelineStatistic {
  std::string name;   // "Register Count"
  std::string value;  // "24"
};

/// The value in the form that its format asks for.
std::string valueText(const VkPipelineExecutableStatisticKHR& statistic);

/// Of all executables that the pipeline was compiled to. REQUIRES a pipeline made with
/// VK_PIPELINE_CREATE_CAPTURE_STATISTICS_BIT_KHR on a device that has the extension.
Result<std::vector<PipelineStatistic>> statisticsOf(const Device& device, VkPipeline pipeline);

}  // namespace opkit::vulkan
