// LoopLimit: how many iterations the loops of one shader invocation may make.
//
// Some software devices silently end every loop of an invocation once all its loops together have made a number of
// iterations: Mesa 22.3's lavapipe after 65,535. No query returns this limit, so a small shader counts
// (docs/decisions/0023-loop-limit.md). Kernels ask through requireLoops() of vulkan_execution.h. Thread-safe.
#pragma once

#include <filesystem>

#include "engine/backend/vulkan/pipeline_cache.h"

namespace opkit::vulkan {

/// Iterations that the loops of one invocation may make together; UINT64_MAX for a device that made 2^24. Measured once
/// per `key` (device and driver) and stored in `file`. Without a path it is measured once per process. A file that
/// cannot be written is a warning on stderr.
Result<uint64_t> loopIterations(const std::shared_ptr<Device>& device, PipelineCache& pipelines,
                                const std::filesystem::path& file, const std::string& key);

}  // namespace opkit::vulkan
