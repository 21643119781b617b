// ShaderTables: small tables of words that an Execution's shaders read through uniform texel buffers, for plans that do
// not fit into push constants. Kept between resizes. Belongs to one Execution.
#pragma once

#include <deque>

#include "engine/backend/backend.h"

namespace opkit::vulkan {

/// u32[words], whole texels of four; an empty table holds one word, since an empty buffer cannot be bound.
TensorDesc tableDesc(const std::vector<uint32_t>& words);

class ShaderTables {
 public:
  explicit ShaderTables(Backend& backend) : backend_(backend) {}

  /// Reuses the tables for the next uploads; call at the beginning of onEncode.
  void restart() { used_ = 0; }
  /// u32[words] on the device, until the next restart. OutOfMemory when refused.
  Result<const Tensor*> upload(const std::vector<uint32_t>& words);

 private:
  Backend& backend_;
  struct Table {
    Tensor tensor;
    std::vector<uint32_t> words;  // current contents: a table that is measured and then recorded is uploaded once
  };
  std::deque<Table> tables_;  // a deque: addresses are handed out
  size_t used_ = 0;
};

}  // namespace opkit::vulkan
