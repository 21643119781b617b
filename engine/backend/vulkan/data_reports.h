// DataReports: what the shaders of one plan found wrong with the data that they were given.
//
// A kernel cannot fail, but it can leave a word in memory that the host sees: Encoder::report. The words are read after
// the device has been waited for, which a run does anyway, so that they cost a run nothing. Used by one thread at a
// time.
#pragma once

#include <deque>

#include "engine/backend/vulkan/vulkan_buffer.h"
#include "engine/backend/vulkan/vulkan_execution.h"

namespace opkit::vulkan {

class DataReports {
 public:
  /// Words of their own for one Execution; the address stays good. OutOfMemory when refused.
  Result<const Tensor*> add(const std::shared_ptr<Device>& device, int64_t words, DataReport explain);
  /// Call after a run. The message of the first Execution that reported bad data, or OK; clears all words.
  Status take();

 private:
  struct Entry {
    Tensor words;
    DataReport explain;
  };
  std::deque<Entry> entries_;  // in the order of recording; a deque: addresses are handed out
};

}  // namespace opkit::vulkan
