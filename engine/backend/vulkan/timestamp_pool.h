// TimestampPool: device clock readings around Executions, in query pools that grow with the recording.
#pragma once

#include <vector>

#include "engine/backend/vulkan/device.h"

namespace opkit::vulkan {

class TimestampPool {
 public:
  explicit TimestampPool(std::shared_ptr<Device> device) : device_(std::move(device)) {}

  /// Records the start of the next interval; the readings are taken when all earlier commands are complete.
  Status begin(VkCommandBuffer commands);
  /// Records the end of the interval that begin() opened.
  void end(VkCommandBuffer commands);
  size_t intervals() const { return intervals_; }
  /// Appends the length of every interval; REQUIRES that the commands ran to completion.
  Status readNs(std::vector<double>& lengths) const;

 private:
  std::shared_ptr<Device> device_;
  std::vector<Owned<VkQueryPool>> pools_;
  size_t intervals_ = 0;
};

}  // namespace opkit::vulkan
