// DataReports: errors that the shaders of one plan found in their input data.
//
// A kernel cannot fail, but it can write a word to memory that the host sees: Encoder::report. A run waits for the
// device anyway and reads the words after that, so they cost nothing. Used by one thread at a time.
#pragma once

#include <deque>

#include "engine/backend/vulkan/vulkan_buffer.h"
#include "engine/backend/vulkan/vulkan_execution.h"

namespace opkit::vulkan {

class DataReports {
 public:
  /// Separate words for one Execution; the address stays valid. OutOfMemory if refused.
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
