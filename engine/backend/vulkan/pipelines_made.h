// Pipelines that this process made on all devices: their number, and the time for which the driver compiled. A driver
// with a warm cache takes little. Thread-safe.
#pragma once

#include <cstdint>

namespace opkit::vulkan {

struct PipelinesMade {
  uint64_t count = 0;
  double ns = 0;
};

PipelinesMade pipelinesMade();

/// For the code that makes them: adds the time since its creation, and the pipelines.
class MakingTimer {
 public:
  explicit MakingTimer(uint64_t pipelines);
  ~MakingTimer();
  MakingTimer(const MakingTimer&) = delete;
  MakingTimer& operator=(const MakingTimer&) = delete;

 private:
  uint64_t pipelines_;
  double begunNs_;
};

}  // namespace opkit::vulkan
